"""Whether facts, run and findings are what Tailscale says."""
import base64, copy, datetime

from tailnet import endpoint, way_of

KINDS = ("facts", "measure", "explain")
# Between the clock of a status and that of the facts beside it, s.
APART_S = 3
# A cause that is found at one end is not listed again as ruled out at the other.
NOT_FOUND = ("ruled out", "nothing")
ENDS = (("near", "a", "b"), ("far", "b", "a"))


def tunnel(facts):
    """Facts of the outer tunnel, or nothing."""
    layers = facts.get("path", {}).get("layers", [])
    return next((layer["tunnel"] for layer in layers if "tunnel" in layer), {})


def since(text):
    """Seconds since 1970 of a time of Go, which has nanoseconds; nothing for its zero time."""
    time = datetime.datetime.fromisoformat(text[:19] + "+00:00")
    return time.timestamp() if time.year > 1 else None


def way(answer):
    """The path, and the endpoint or relay, by the answer to a ping, or by a status."""
    if answer == "idle":
        return {"path": "idle"}
    if answer.startswith("DERP("):
        return {"path": "relayed", "relay": answer[5:-1], "relay_transport": "derp", "endpoint": None}
    return {"path": "direct", "relay": None, "relay_transport": None, "endpoint": answer}


def differing(what, wanted, facts):
    return [f"{what}: {name} is {facts.get(name)}, not {value}"
            for name, value in wanted.items() if facts.get(name) != value]


def facts_problems(what, said, answers):
    """What the facts of both ends say otherwise than the status of their time, and the answers to a ping."""
    found = []
    for end, host, other in ENDS:
        seen = said[end]
        peer, facts = seen["peer"], tunnel(seen["facts"])
        key = base64.b64encode(bytes.fromhex(peer["PublicKey"].removeprefix("nodekey:"))).decode()[:8]
        wanted = {"product": "tailscale", "version": seen["version"], "mtu": seen["mtu"], "peer_key": key,
                  "kind": "wireguard_go" if seen["device"] else "netstack",
                  "device": "tailscale0" if seen["device"] else None, **way(way_of(peer))}
        found += differing(f"{what}, {end}", wanted, facts)
        if answers:
            found += differing(f"{what}, {end}, ping", way(answers[host]), facts)
            if way(answers[host])["endpoint"] not in (None, endpoint(other)):
                found.append(f"{what}, {end}: Tailscale's endpoint is {answers[host]}")
        made = since(peer["LastHandshake"])
        age, known = facts.get("handshake_age_s"), made is not None
        if (age is not None) != known or (known and abs(seen["at"] - made - age) > APART_S):
            found.append(f"{what}, {end}: the handshake is {age} s ago, Tailscale says {peer['LastHandshake']}")
    return found


def of_run(run, end, name="facts"):
    """Facts of the tunnel before a run, or after it, which it only has if they changed."""
    return tunnel(run[end].get(name) or run[end]["facts"])


def run_problems(setting, seen):
    """The same of the facts within the run, where the connection to the far end may wake an idle peer."""
    found = []
    for end, host, _ in ENDS:
        for name, answers in (("facts", seen["ways"]["awake"]), ("facts_after", seen["ways"]["after"])):
            facts = of_run(seen["run"], end, name)
            if setting.idle and name == "facts" and facts.get("path") == "idle":
                continue
            found += differing(f"run, {end}, {name}", way(answers[host]), facts)
    return found


def measure_problems(run):
    passed = {sample["key"].get("direction") for sample in run["samples"]
              if sample["key"]["layer"] == "tunnel" and sample.get("tcp", {}).get("goodput_bps", 0) > 0}
    return [f"no TCP passed the tunnel {way}" for way in ("down", "up") if way not in passed]


def verdict(found, code, end=None):
    """What a set of findings says of a cause: found, ruled out, or cannot tell."""
    for name, said in (("findings", "found"), ("ruled_out", "ruled out"), ("cannot_tell", "cannot tell")):
        if any(f["code"] == code and end in (None, f.get("end")) for f in found[name]):
            return said
    return "nothing"


def explain_problems(setting, found, unwoken, was_relayed):
    relayed = verdict(found, "relayed-path")
    wanted = ("found",) if setting.relayed else ("ruled out", "cannot tell")
    # Loads may fill the path until Tailscale itself, missing answers, sends by the relay, too.
    wanted += ("found",) if was_relayed else ()
    problems = [] if relayed in wanted else [f"relayed-path: {relayed}"]
    if unwoken is not None and verdict(unwoken, "relayed-path") != "cannot tell":
        problems.append(f"relayed-path of a tunnel that stays idle: {verdict(unwoken, 'relayed-path')}")
    for end, _, _ in ENDS:
        own = setting.netstack and end == "far"
        # Behind a relay the cause of a slow tunnel cannot be its stack, as `explain` has it.
        wanted = ("found", "cannot tell") if own and setting.relayed else ("found",) if own else NOT_FOUND
        if verdict(found, "userspace-tcp-stack", end) not in wanted:
            problems.append(f"userspace-tcp-stack, {end}: {verdict(found, 'userspace-tcp-stack', end)}")
    return problems


def unwoken(seen):
    """The run as it were if its tunnel had been idle before and after it."""
    run = copy.deepcopy(seen["run"])
    for end, _, _ in ENDS:
        run[end].pop("facts_after", None)
        run[end]["facts"] = seen["idle"][end]["facts"]
    return run


def judged(setting, seen, explain):
    """The columns of a setting."""
    run = seen["run"]
    found = explain(run)
    during = seen.get("during", {})
    was_relayed = any(way(said)["path"] == "relayed" for ways in during.values() for said in ways)
    facts = facts_problems("awake", seen["awake"], seen["ways"]["awake"])
    if setting.idle:
        facts += facts_problems("idle", seen["idle"], None)
    facts += facts_problems("after", seen["after"], seen["ways"]["after"])
    words = lambda name: ", ".join(f"{end} {of_run(run, end, name).get('path')}" for end, _, _ in ENDS)
    return {"before": words("facts"), "after": words("facts_after"), "during": during,
            "relayed_path": verdict(found, "relayed-path"),
            "found": [f"{f['code']} {f.get('end') or f.get('direction') or ''} {f['severity']}".replace("  ", " ")
                      for f in found["findings"]],
            "facts": facts + run_problems(setting, seen), "measure": measure_problems(run),
            "explain": explain_problems(setting, found, explain(unwoken(seen)) if setting.idle else None, was_relayed)}
