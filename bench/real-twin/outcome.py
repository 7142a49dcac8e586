"""What an Advice states of a remedy, and what was measured with it."""

FIGURES = ("goodput", "loaded_p50")
# Other work on the machine makes a sample invalid, since it may have slowed the load; here the
# load and the path go before all other work.
OTHER_WORK = ("sender_processor", "receiver_processor")
SENDS = {"near": "up", "far": "down"}
# Remedies that act on what a host sends; all others act on both directions.
OF_A_SENDER = ("congestion_control", "notsent_lowat", "queue", "shaper")


def acts_on(tried):
    """The directions that its remedies change."""
    ways = set()
    for remedy in tried["remedies"]:
        own = SENDS.get(remedy["on"])
        sender = remedy["action"]["kind"] in OF_A_SENDER and remedy["action"].get("flow") != "ingress"
        ways |= {own} if own and sender else {"down", "up"}
    return sorted(ways)


def measured(run):
    """Goodput and loaded RTT of one flow in each direction; nothing where a sample is invalid."""
    found = {}
    for sample in run["samples"]:
        key, why = sample["key"], [reason["because"] for reason in sample.get("invalid", [])]
        if key["step"] != "tcp" or any(reason not in OTHER_WORK for reason in why):
            continue
        values = (sample["tcp"]["goodput_bps"], sample["probes"].get("p50_us"))
        found |= {f"{name} {key['direction']}": value for name, value in zip(FIGURES, values) if value}
    return found


def compared(tried, before, after):
    """Each stated interval with the ratio that was measured."""
    acting = acts_on(tried)
    rows = []
    for change in tried["changes"]:
        name = f"{change['figure']} {change['direction']}"
        if change["figure"] not in FIGURES:
            continue
        row = {"figure": name, "acts": change["direction"] in acting, "low": round(change["low"], 4),
               "predicted": round(change["ratio"], 4), "high": round(change["high"], 4)}
        if before.get(name) and after.get(name):
            ratio = after[name] / before[name]
            row |= {"before": before[name], "after": after[name], "measured": round(ratio, 4),
                    "inside": change["low"] <= ratio <= change["high"]}
        rows.append(row)
    return rows


def is_inside(rows):
    """Whether all figures of the directions that the remedy acts on are in their intervals;
    nothing where one of them was not measured."""
    acting = [row.get("inside") for row in rows if row["acts"]]
    return None if None in acting or not acting else all(acting)
