#!/usr/bin/env python3
"""Regenerates expected.json: what SPIN says about every model in this folder.

    python3 models/record.py                  all models, writes expected.json
    python3 models/record.py peterson.pml     only these, prints, writes nothing
    python3 models/record.py --cross-check    finds every shortest trail twice,
                                              by BFS and by bounded DFS

Needs spin, gcc and nothing else.  The table MODELS below says what we believe
about each model; the script runs SPIN live, and stops with an error if SPIN
disagrees.  The numbers come from SPIN alone.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# {defines} is "-DNAME=V ..."; {noclaim} is -DNOCLAIM if the model has a never
# claim or an ltl formula, else nothing; {claim} is "-N name" for a named claim;
# {fair} is -f for weak fairness; {bound} is the depth bound.
COMMANDS = {
    "raw": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DNOREDUCE -DSAFETY {noclaim} -o pan pan.c",
        "./pan -c0 -m2000000 -w22",
    ],
    "shortest_bfs": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DBFS -DNOREDUCE -DSAFETY {noclaim} -o pan pan.c",
        "./pan -w22",
    ],
    "shortest_dfs": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DREACH -DNOREDUCE -DSAFETY {noclaim} -o pan pan.c",
        "./pan -c1 -m{bound} -w22",
    ],
    "claim": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DNOREDUCE -o pan pan.c",
        "./pan -a {fair} {claim} -m2000000 -w22",
    ],
    "acceptance": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DNOREDUCE {noclaim} -o pan pan.c",
        "./pan -a {fair} -m2000000 -w22",
    ],
    "non_progress": [
        "spin -o1 -o2 -o3 {defines} -a {file}",
        "gcc -O2 -w -DNP -DNOREDUCE {noclaim} -o pan pan.c",
        "./pan -l {fair} -m2000000 -w22",
    ],
}

ASSERTION = "assertion"
DEADLOCK = "invalid-end-state"
TRACE = "trace"
RUNTIME = "runtime"
CYCLE = "acceptance-cycle"
STUCK = "non-progress-cycle"
ENDED = "never-claim"


def model(file, *defines, error=None, claims=(), acceptance=(), non_progress=(), note=None):
    """One line of the table.  claims: (name or None, fair, error or None);
    acceptance, non_progress: (fair, error or None)."""
    return {
        "file": file, "defines": list(defines), "error": error, "claims": claims,
        "acceptance": acceptance, "non_progress": non_progress, "note": note,
    }


MODELS = [
    model("alternating_bit.pml", non_progress=[(False, STUCK)]),
    model("alternating_bit.pml", "CHECK=0", error=ASSERTION),
    model("arbiter_tree.pml", error=ASSERTION),
    model("arbiter_tree.pml", "FAULTY=0", claims=[("mutual_exclusion", False, None)]),
    model("arbiter_tree.pml", "H=3", error=ASSERTION),
    model("arbiter_tree.pml", "H=3", "FAULTY=0", claims=[("mutual_exclusion", False, None)]),
    model("bakery.pml"),
    model("bakery.pml", "CHOOSING=0", error=ASSERTION),
    model("bakery.pml", "N=3", "ROUNDS=1"),
    model("barrier.pml"),
    model("barrier.pml", "BROKEN=1", error=DEADLOCK),
    model("bounded_buffer.pml"),
    model("bounded_buffer.pml", "SWAPPED=1", error=DEADLOCK),
    model("bridge_and_torch.pml", error=ASSERTION),
    model("bridge_and_torch.pml", "LIMIT=59"),
    model("byzantine_generals.pml"),
    model("byzantine_generals.pml", "GENERALS=3", error=ASSERTION),
    model("chang_roberts.pml"),
    model("chang_roberts.pml", "N=5"),
    model("client_server.pml"),
    model("client_server.pml", "BUG=1", error=DEADLOCK),
    model("client_server.pml", "SERVERS=2", "BUG=1", error=DEADLOCK),
    model("client_server.pml", "USERS=3"),
    model("dekker.pml", claims=[("no_starvation", True, None),
                                ("no_starvation", False, CYCLE)]),
    model("dining_cryptographers.pml"),
    model("division_by_zero.pml", error=RUNTIME,
          note="SPIN's verifier dies of SIGFPE, so there are no numbers"),
    model("division_by_zero.pml", "ATOMIC=1"),
    model("dolev_klawe_rodeh.pml", claims=[("one_leader", False, None)]),
    model("dolev_klawe_rodeh.pml", "N=7"),
    model("elevator.pml", claims=[("every_call_is_served", True, None),
                                  ("every_call_is_served", False, CYCLE)]),
    model("elevator.pml", "BUG=1", error=ASSERTION),
    model("filter_lock.pml"),
    model("fischer.pml"),
    model("fischer.pml", "WAIT=1", error=ASSERTION),
    model("fischer.pml", "N=4"),
    model("go_back_n.pml"),
    model("go_back_n.pml", "MODULUS=2", error=ASSERTION),
    model("go_back_n.pml", "WINDOW=3", "MODULUS=4"),
    model("hanoi_disks.pml", error=ASSERTION),
    model("hanoi_disks.pml", "DISKS=4", error=ASSERTION),
    model("hello.pml"),
    model("hello.pml", "RUDE=1", error=ASSERTION),
    model("hired_worker.pml", error=ASSERTION),
    model("index_out_of_range.pml", error=RUNTIME),
    model("index_out_of_range.pml", "ATOMIC=1"),
    model("job_scheduler.pml"),
    model("job_scheduler.pml", "SORTED=0", error=ASSERTION),
    model("last_word.pml", claims=[("first_has_the_last_word", False, CYCLE)]),
    model("lock_order.pml", error=DEADLOCK),
    model("lock_order.pml", "ORDERED=1"),
    model("lock_server.pml"),
    model("lock_server.pml", "N=4"),
    model("lock_server.pml", "HASTY=1", error=ASSERTION),
    model("lynch.pml", error=ASSERTION),
    model("lynch.pml", "NUMBERED=1"),
    model("mesi.pml"),
    model("mesi.pml", "BUG=1", error=ASSERTION),
    model("mutex_faulty.pml", error=ASSERTION),
    model("mutex_faulty.pml", "ATOMIC=1"),
    model("mutex_test_then_set.pml", error=ASSERTION),
    model("mutex_test_then_set.pml", "ATOMIC=1"),
    model("mutex_test_then_set.pml", "N=4", error=ASSERTION),
    model("needham_schroeder.pml", error=ASSERTION),
    model("needham_schroeder.pml", "LOWE=1"),
    model("object_broker.pml"),
    model("object_broker.pml", "BUG=1", error=DEADLOCK),
    model("object_broker.pml", "CLIENTS=3"),
    model("optical_telegraph.pml", error=DEADLOCK),
    model("optical_telegraph.pml", "RULES=1"),
    model("paxos.pml"),
    model("paxos.pml", "QUORUM=1", error=ASSERTION),
    model("peterson.pml", claims=[("mutual_exclusion", False, None),
                                  ("no_starvation", False, None)]),
    model("peterson.pml", "SWAPPED=1", error=ASSERTION),
    model("peterson_tso.pml", error=ASSERTION),
    model("peterson_tso.pml", "FENCE=1"),
    model("philosophers_asymmetric.pml", claims=[("somebody_eats", False, None)]),
    model("philosophers_asymmetric.pml", "N=6"),
    model("philosophers_deadlock.pml", error=DEADLOCK),
    model("philosophers_deadlock.pml", "N=8", error=DEADLOCK),
    model("philosophers_deadlock.pml", "N=8", "ONE_STEP=1", "DANGER=1", error=DEADLOCK),
    model("polite_corridor.pml", acceptance=[(False, CYCLE)],
          non_progress=[(False, STUCK)]),
    model("polite_corridor.pml", "RUDE=1", acceptance=[(False, None)],
          non_progress=[(False, None)]),
    model("pots.pml"),
    model("pots.pml", "BUG=1", error=DEADLOCK),
    model("pots.pml", "CALLS=3"),
    model("pots_async.pml", claims=[("consistent", False, ENDED)]),
    model("pots_async.pml", "SIZE=0", claims=[("consistent", False, None)]),
    model("priority_inversion.pml", error=ASSERTION),
    model("priority_inversion.pml", "INHERIT=1"),
    model("producer_consumer.pml"),
    model("producer_consumer.pml", "ITEMS=4", "SIZE=3"),
    model("railway_crossing.pml"),
    model("railway_crossing.pml", "APPROACH=1", error=ASSERTION),
    model("readers_writers.pml", claims=[("writers_get_in", True, None),
                                         ("readers_get_in", True, CYCLE)]),
    model("readers_writers.pml", "BUG=1", error=ASSERTION),
    model("relay.pml", error=ASSERTION),
    model("relay.pml", "BAR=1"),
    model("river_crossing.pml", error=ASSERTION),
    model("sieve.pml"),
    model("sieve.pml", "SIZE=0"),
    model("sleeping_barber.pml"),
    model("sleeping_barber.pml", "RACE=1", error=DEADLOCK),
    model("sliding_puzzle.pml", error=ASSERTION),
    model("sliding_puzzle.pml", "SWAP=1"),
    model("sliding_puzzle.pml", "ROWS=3", error=ASSERTION),
    model("stable_marriage.pml"),
    model("stable_marriage.pml", "LOYAL=1", error=ASSERTION),
    model("stable_marriage.pml", "SHY=1", error=DEADLOCK),
    model("stop_and_wait.pml", error=ASSERTION),
    model("stop_and_wait.pml", "NUMBERED=1"),
    model("szymanski.pml"),
    model("termination_ring.pml", claims=[("it_is_noticed", True, None)]),
    model("termination_ring.pml", "COLOURS=0", error=ASSERTION),
    model("ticket_lock.pml", claims=[("first_come_first_served", False, None)]),
    model("ticket_lock.pml", "BITS=1", error=ASSERTION),
    model("time_slice.pml", error=ASSERTION),
    model("time_slice.pml", "MASK=1"),
    model("timed_mutex.pml"),
    model("timed_mutex.pml", "WAIT=2", error=ASSERTION),
    model("timed_mutex.pml", "N=3"),
    model("timed_mutex.pml", "N=3", "WAIT=2", error=ASSERTION),
    model("token_ring.pml", claims=[("one_at_a_time", False, None),
                                    ("everybody_gets_a_turn", False, None)]),
    model("token_ring.pml", "LOSSY=1", error=DEADLOCK),
    model("tour_channels.pml"),
    model("tour_control.pml", claims=[("bounded_last", False, None)]),
    model("tour_expressions.pml"),
    model("tour_predicates.pml"),
    model("tour_predicates.pml", "TWICE=1", error=TRACE),
    model("traffic_light.pml", claims=[(None, True, None), (None, False, CYCLE)]),
    model("traffic_light.pml", "IMPATIENT=1", error=ASSERTION),
    model("tramway.pml"),
    model("tramway.pml", "CLEAR=1", error=ASSERTION),
    model("tramway.pml", "TRAMS=3", "CLEAR=1", error=ASSERTION),
    model("tramway.pml", "SEGMENTS=2"),
    model("tramway.pml", "SEGMENTS=2", "CLEAR=1", error=ASSERTION),
    model("treiber_stack.pml", error=ASSERTION),
    model("treiber_stack.pml", "VERSIONED=1"),
    model("two_phase_commit.pml"),
    model("two_phase_commit.pml", "CRASH=1", error=DEADLOCK),
    model("vending_machine.pml"),
    model("vending_machine.pml", "GENEROUS=1", error=TRACE),
    model("water_jugs.pml", error=ASSERTION),
    model("water_jugs.pml", "SMALL=4", "LARGE=6", "GOAL=3"),
]

# pan's words for an error, the longest match first
KINDS = [
    ("assertion violated - invalid array index", RUNTIME),
    ("assertion violated", ASSERTION),
    ("invalid end state", DEADLOCK),
    ("event_trace error", TRACE),
    ("acceptance cycle", CYCLE),
    ("non-progress cycle", STUCK),
    ("end state in claim reached", ENDED),
]

# messages of spin -a that are not worth a thought
HARMLESS = re.compile(
    r"^ltl |never claims: |only one claim is used|choose which one|or use e\.g\.|"
    r"using enabled\(\) outside never claim|^\s*$")


class Disagreement(Exception):
    """SPIN does not say what the table says."""


class Pan:
    """What one run of the verifier printed."""

    def __init__(self, text, status):
        self.killed = -status if status < 0 else 0
        self.text = text
        self.states = self.number(r"^\s*(\d+) states, stored")
        self.transitions = self.number(r"^\s*(\d+) transitions \(=")
        self.errors = self.number(r"errors: (\d+)")
        self.kinds = []
        for message in re.findall(r"^pan:\d+: (.*)", text, re.M):
            kind = next((k for words, k in KINDS if message.startswith(words)), message)
            if kind not in self.kinds:
                self.kinds.append(kind)

    def number(self, pattern):
        found = re.search(pattern, self.text, re.M)
        return int(found.group(1)) if found else None


class Workshop:
    """A scratch folder with one model in it, and the commands run there."""

    def __init__(self, entry):
        self.entry = entry
        self.folder = tempfile.mkdtemp(prefix="record-")
        for name in os.listdir(HERE):
            if name.endswith((".pml", ".inc")):
                shutil.copy(os.path.join(HERE, name), self.folder)
        self.defines = ["-D" + d for d in entry["defines"]]
        source = self.run(["gcc", "-E", "-P", "-x", "c", *self.defines, entry["file"]])[0]
        self.rendezvous = re.search(r"=\s*\[\s*0\s*\]\s*of\b", source) is not None
        # SPIN's BFS keeps no undo information for hidden variables and _last
        self.bfs_refused = re.search(r"\b(hidden|_last)\b", source) is not None
        self.has_claim = re.search(r"^\s*(ltl|never)\b", source, re.M) is not None

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, words, seconds=None):
        done = subprocess.run(words, cwd=self.folder, text=True, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout, done.returncode

    def build(self, mode, **values):
        """Generates and compiles the verifier of a mode; values fill the templates."""
        values = {
            "file": self.entry["file"],
            "defines": " ".join(self.defines),
            "noclaim": "-DNOCLAIM" if self.has_claim else "",
            **values,
        }
        spin, gcc, _ = COMMANDS[mode]
        text, status = self.run(spin.format(**values).split())
        strange = [line for line in text.splitlines() if not HARMLESS.search(line)]
        if status or strange:
            raise Disagreement("spin -a: " + "\n".join(strange or [text]))
        text, status = self.run(gcc.format(**values).split())
        if status:
            raise Disagreement("gcc: " + text)

    def verify(self, mode, seconds=None, **values):
        values = {"fair": "", "claim": "", **values}
        return Pan(*self.run(COMMANDS[mode][2].format(**values).split(), seconds))

    def trail_length(self):
        """Steps in the trail file, which is removed; None without one."""
        path = os.path.join(self.folder, self.entry["file"] + ".trail")
        if not os.path.exists(path):
            return None
        with open(path) as lines:
            steps = sum(1 for line in lines if int(line.split(":")[0]) > 0)
        os.remove(path)
        return steps


def shortest_by_bfs(shop):
    shop.build("shortest_bfs")
    found = shop.verify("shortest_bfs")
    if shop.entry["error"] == RUNTIME and found.killed == signal.SIGFPE:
        return None
    steps = shop.trail_length()
    if steps is not None and found.kinds[0] == DEADLOCK:
        steps -= 1          # the last step of such a trail was tried, not taken
    return steps


def shortest_by_dfs(shop, start, seconds=None):
    """Asks for a shorter and shorter trail until there is none.

    -DREACH makes a bounded search exact: a state met again at a smaller depth is
    explored again.  A trail of n steps to a failing statement needs the bound n;
    an end state after n steps is looked at only below the bound n + 2.
    """
    shop.build("shortest_dfs")
    extra = 2 if shop.entry["error"] == DEADLOCK else 0
    best = None
    bound = start
    while True:
        shop.verify("shortest_dfs", seconds, bound=bound)
        steps = shop.trail_length()
        if steps is None:
            return best
        if best is not None and steps >= best:
            raise Disagreement("bounded search does not get shorter")
        best = steps
        bound = best - 1 + extra
        if bound < 1:
            return best


def record_cycles(shop, mode, wanted):
    """Liveness results: the claims, or acceptance or non-progress cycles."""
    shop.build(mode)
    results = []
    for name, fair, error in wanted:
        found = shop.verify(mode, fair="-f" if fair else "",
                            claim="-N " + name if name else "")
        shop.trail_length()
        if mode == "claim" and shop.entry["error"] != ASSERTION:
            # SPIN writes the claim of [] p with assert(p); the model's own hold
            found.kinds = [ENDED if kind == ASSERTION else kind for kind in found.kinds]
        if found.kinds != ([error] if error else []):
            raise Disagreement("%s %s: expected %s, got %s" % (mode, name, error, found.kinds))
        result = {"name": name} if mode == "claim" else {}
        result.update(fair=fair, verdict="violated" if error else "verified", error=error)
        results.append(result)
    return results


def record(entry, cross_check):
    shop = Workshop(entry)
    try:
        shop.build("raw")
        raw = shop.verify("raw")
        shop.trail_length()
        killed = raw.killed == signal.SIGFPE
        kinds = [RUNTIME] if killed else raw.kinds
        if kinds != ([entry["error"]] if entry["error"] else []):
            raise Disagreement("expected %s, got %s\n%s" % (entry["error"], kinds, raw.text[:2000]))
        if not killed and (raw.errors > 0) != (entry["error"] is not None):
            raise Disagreement("error count and error text differ")

        fact = {
            "file": entry["file"],
            "defines": entry["defines"],
            "verdict": "violated" if entry["error"] else "verified",
            "error": entry["error"],
            "states": raw.states,
            "transitions": raw.transitions,
            "errors": raw.errors,
            "shortest": None,
        }
        if entry["error"] and not killed:
            bfs = dfs = None
            if not (shop.rendezvous or shop.bfs_refused):
                bfs = shortest_by_bfs(shop)
            if bfs is None:
                dfs = shortest_by_dfs(shop, 400)
            elif cross_check:
                try:
                    dfs = shortest_by_dfs(shop, bfs + 10, seconds=60)
                except subprocess.TimeoutExpired:
                    print("no cross-check within a minute:", entry["file"], flush=True)
            if bfs is not None and dfs is not None and bfs != dfs:
                raise Disagreement("shortest trail: BFS %s, bounded DFS %s" % (bfs, dfs))
            fact["shortest"] = dfs if bfs is None else bfs
            fact["shortest_by"] = "dfs" if bfs is None else "bfs"
            if fact["shortest"] is None:
                raise Disagreement("no shortest trail found")
        if entry["claims"]:
            fact["claims"] = record_cycles(shop, "claim", entry["claims"])
        for mode in ("acceptance", "non_progress"):
            if entry[mode]:
                wanted = [(None, fair, error) for fair, error in entry[mode]]
                fact[mode] = record_cycles(shop, mode, wanted)
        if entry["note"]:
            fact["note"] = entry["note"]
        return fact
    finally:
        shop.close()


def main():
    arguments = sys.argv[1:]
    cross_check = "--cross-check" in arguments
    only = [os.path.basename(a) for a in arguments if a != "--cross-check"]

    missing = {f for f in os.listdir(HERE) if f.endswith(".pml")} - {m["file"] for m in MODELS}
    if missing:
        sys.exit("not in the table: " + ", ".join(sorted(missing)))

    facts = []
    failures = 0
    for entry in MODELS:
        if only and entry["file"] not in only:
            continue
        title = " ".join([entry["file"], *entry["defines"]])
        try:
            fact = record(entry, cross_check)
        except Disagreement as problem:
            failures += 1
            print("%s: %s" % (title, problem), file=sys.stderr, flush=True)
            continue
        facts.append(fact)
        print("%-45s %-9s %-18s %9s %9s %7s %5s" % (
            title, fact["verdict"], fact["error"] or "", fact["states"],
            fact["transitions"], fact["errors"], fact["shortest"] or ""), flush=True)
    if failures:
        sys.exit("%d of %d disagree; nothing written" % (failures, failures + len(facts)))
    if only:
        return

    version = subprocess.run(["spin", "-V"], text=True, stdout=subprocess.PIPE).stdout.strip()
    with open(os.path.join(HERE, "expected.json"), "w") as out:
        out.write('{\n"spin": %s,\n"commands": %s,\n"models": [\n' % (
            json.dumps(version), json.dumps(COMMANDS, indent=2)))
        out.write(",\n".join(json.dumps(fact) for fact in facts))
        out.write("\n]\n}\n")


if __name__ == "__main__":
    main()
