# Texts of the page. A value in braces comes from the documents.

skip = To the report
contents = Contents
footer = one file, no network; the tables hold every value that the charts draw

layer-underlay = Path
layer-tunnel = Tunnel
direction-down = down
direction-up = up
way-down = down (far to near)
way-up = up (near to far)
side-near = near host
side-far = far host
severity-info = remark
severity-low = low
severity-medium = medium
severity-high = high
unknown = unknown
invalid = does not count
comma = ,{" "}

step-idle = Idle
step-udp-sweep = UDP at rising rates
step-udp = UDP
step-tcp = TCP
step-pmtu = Path MTU
step-sizes = Packet sizes
step-short = Requests
step-http = HTTP on one connection
step-quic = QUIC
flows = { $n ->
    [one] 1 flow
   *[other] { $n } flows
}
opposed = with load the other way
repeats = n = { $n }
drift = drifting { $by }
idle = idle
probes = probes
values = Values as a table
what = What was run

head-run = Run
head-plan = plan { $plan }
head-virtual = { $span } of virtual time on a lab path
head-took = took { $span }
head-samples = { $count } of { $all } samples count
head-cut-short = Cut short:

tone-high = Something makes this slow
tone-medium = Something costs throughput or latency
tone-low = Something costs a little
tone-well = Nothing is wrong
tone-open = Not settled
verdict-open = This run does not show what limits the path
verdict-judged = Layer that was judged: { $layer }. The evidence is below, and so is what was ruled out.
verdict-judged-lab = Layer that was judged: { $layer }, on a lab path. The evidence is below, and so is what was ruled out.
sure = { $percent } sure
others-title = Also found
next = Next:
next-also = Also:
openwrt = On OpenWrt:
next-on = Next, on the { $host }:
why-there = Why there:
surer = To be surer:

glance-filled = { $share } of the { $carries } Mbit/s that the path carries
glance-delay = Round trip, idle and loaded
glance-loaded = medians; the load goes { $way }
glance-kept = Tunnel over path
glance-interval = { $low } to { $high }

nav-layers = Figures
nav-time = Over time
nav-delay = Delay
nav-loss = Loss
nav-causes = Causes
nav-hosts = Hosts
nav-doubts = Notes
nav-matrix = Matrix
nav-again = Reproduce

causes-title = Causes and evidence
evidence = Evidence
evidence-value = Value
evidence-bound = Held against
evidence-arithmetic = How computed
evidence-decides = decides
would-tell = { $because }; { $settle } would tell
cannot-tell = What this run cannot tell ({ $n })
ruled-out = What was ruled out ({ $n })

layers-title = Baseline against tunnel
figures-title = Figures
figures-note = Median of the repeats; below it the 95 % interval, where there are enough of them, and their number. Ratios are tunnel over path, taken block by block where both were measured side by side, so they can differ from the ratio of the medians.
figures-all = All other figures
ratio = Ratio
drawn = Drawn to one scale
figure-goodput_bps = payload that arrived
figure-capacity_bps = what the path carries at most, IP packets
figure-udp_lost = datagrams that did not arrive
figure-udp_reordered = datagrams overtaken by a later one
figure-udp_jitter_us = jitter of RFC 3550
figure-retransmitted = sent bytes that were sent again
figure-rtt_p50_us = round trip of the probes, median
figure-rtt_p95_us = round trip of the probes, 95th percentile
figure-rtt_p99_us = round trip of the probes, 99th percentile
figure-probe_lost = probes without an answer
figure-tcp_rtt_p50_us = the sender's smoothed round trip, median
figure-complete_p50_us = completion time of a request, median
figure-complete_p95_us = completion time of a request, 95th percentile
figure-pmtu_bytes = largest IP packet that arrives whole
figure-near_cpu_s_per_gb = processor time of the near host a gigabyte
figure-far_cpu_s_per_gb = processor time of the far host a gigabyte

time-title = Over time
time-note = One step at a time. Queueing is the sender's smoothed round trip above the smallest it saw. Time starts with the load; what lies outside the marked window is not counted.
time-noscript = The charts need JavaScript. Without it, the tables hold the values.
time-step = Step
time-keys = Zoom: drag across a chart, or + and −. Move: ← →. All: 0. Read values: Shift with ← →.
time-table = Steps as a table
time-left-out = { $n } steps are left out to keep this file small; the run has them.
time-bucket = One value every { $ms } ms
time-window = counted
zoom-in = Zoom in
zoom-out = Zoom out
zoom-all = All
panel-goodput = Goodput
panel-cwnd = Congestion window (segments)
panel-cwnd-kb = Congestion window (kB)
panel-delay = Delay (ms)
panel-retransmitted = Sent again
series-rtt = Smoothed round trip
series-queue = Queueing
series-probe = Probe
series-probe-low = Fastest probe
axis-time = Time (s)
axis-round-trip = Round trip (ms)
axis-share = Share of probes no slower (%)
axis-loss = Packets lost (%)
axis-goodput = Goodput (Mbit/s)
broken = This chart could not be drawn; the table below it holds the values.

delay-title = Delay, idle and loaded
delay-note = Each line says how large a share of the probes came back within a round trip. The further right the loaded lines are of the idle ones, the longer packets wait in queues.
delay-load = While TCP sends { $way }
delay-says-lead = Round trips:{" "}
delay-says = { $name } median { $p50 } ms, 95th percentile { $p95 } ms

loss-title = Throughput against loss
loss-note = Points: measured, at the loss the sender saw, with the interval of the goodput. Lines: what theory says of this congestion control at this round trip, up to what the path carries (docs/models.md). A point on its line is explained by loss alone.
loss-note-rows = Points: medians of the cells, at the loss that the lab made. Lines: what theory says of this congestion control at this round trip, at 1448 bytes a segment, up to the highest goodput of the matrix (docs/models.md). Cells without loss are at the left edge.
loss-way = TCP { $way }
loss-model = Model of { $cc }
loss-model-there = Model at this loss (Mbit/s)
loss-model-ratio = Measured over model
loss-says-lead = Goodput:{" "}
loss-says = { $name } { $goodput } Mbit/s at a loss of { $loss }

hosts-title = Hosts
hosts-table = Facts of both hosts
hosts-what = Fact
hosts-differs = differs
hosts-parameters = Kernel parameters ({ $n }, { $differ } of them differ)
hosts-parameters-table = Kernel parameters of both hosts
hosts-way = How the { $host } reaches the other
fact-kernel = Kernel
fact-architecture = Architecture
fact-machine = Machine
fact-container = Container
fact-processor = Processor
fact-processors = Processors
fact-crypto-abilities = Crypto abilities
fact-governor = Frequency governor
fact-clock-source = Clock source
fact-memory = Memory
fact-congestion-control = Congestion control
fact-allowed = Allowed to all
fact-available = Available

doubts-title = What to keep in mind
doubts-lab = A lab path has no processors that could be too slow, no Wi-Fi and nobody else's network: docs/limitations.md.
doubts-invalid = Samples that do not count ({ $n })

matrix-title = Matrix of the lab
matrix-of = Matrix
matrix-cells = { $n ->
    [one] 1 setting
   *[other] { $n } settings
}
matrix-range = Most goodput: { $high } Mbit/s with { $best }. Least: { $low } Mbit/s with { $worst }.
matrix-effect = { $factor }: with { $where }, { $better } carries { $ratio } times what { $worse } does.
matrix-effect-alone = { $factor }: { $better } carries { $ratio } times what { $worse } does.
matrix-note = Medians over the seeds, with their 95 % bootstrap intervals from three seeds on. Darker is more in light pages, brighter is more in dark ones; the numbers say the same.
matrix-invalid = { $n } rows do not count; the table of all values says why.
matrix-all = All values
heat-goodput = goodput
heat-loaded = round trip under load, median
heat-queue = wait in the bottleneck's queue, 99th percentile (known only in the lab)
heat-resent = segments sent again
heat-value = value

again-title = How to reproduce it
again-lab = Save the plan below as plan.toml, and measure the same spec again:
again-run = Save the plan below as plan.toml, and measure again:
again-lab-same = With the same spec, plan, seed and kernel image the lab gives the same run.
again-run-same = The seed fixes the order of the steps; the network is its own.
again-plan = The plan, with its seed
again-commands = Commands
again-rows = The spec { $name }, { $seeds ->
    [one] one seed
   *[other] { $seeds } seeds
} a setting, Linux { $kernel }. The same spec, seed and kernel image give the same digests.
again-digests = Digests of the cells
again-written = Written by pathtwin { $program }.
