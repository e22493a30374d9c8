#!/usr/bin/env python3
"""The pair of charter and script that must work as it stands, and its events as JSON."""

from support import Stage, json_lines, main


class Pay(Stage):
    def test_the_pair_charges_three_times_and_says_so(self):
        result = self.ok("run", self.pay())

        self.assertTrue(result.stdout.endswith("\n\nAll charged.\n"), result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertEqual(sorted(amount for _, amount in self.ledger()), ["1", "2", "3"])
        self.assertEqual(len({key for key, _ in self.ledger()}), 3)
        for words in ("step 1", 'c1 charge {"amount":1}', "c1 charge done: charged 1", "step 3"):
            self.assertIn(words, result.stdout)

    def test_json_lines_are_dense_and_end_with_the_end(self):
        result = self.ok("run", self.pay(), "--json", "--id", "p1")

        events = json_lines(result.stdout)
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        for event in events:
            for field in ("run", "seq", "type", "at", "step", "instance", "primary"):
                self.assertIn(field, event)
            self.assertEqual(event["run"], "p1")
        last = events[-1]
        self.assertEqual(last["type"], "run_finished")
        self.assertEqual((last["status"], last["stop_reason"], last["output"]),
                         ("done", "end_turn", "All charged."))
        self.assertEqual(last["usage"]["tool_calls"], 3)
        self.assertEqual(events, json_lines(self.ok("logs", "p1", "--json").stdout))

    def test_the_charter_may_be_run_from_anywhere_and_input_come_from_anywhere(self):
        self.pay()
        self.write("input.txt", "from a file")
        charter = self.directory / "pay.yaml"
        for run, word, stdin in (("a", "from a word", ""), ("b", "-", "from a pipe"),
                                 ("c", "@input.txt", "")):
            self.ok("run", charter, word, "--id", run, stdin=stdin)
        started = [self.events(run)[0]["input"] for run in ("a", "b", "c")]
        self.assertEqual(started, ["from a word", "from a pipe", "from a file"])

    def test_an_id_is_used_once(self):
        self.ok("run", self.pay(), "--id", "p1")
        self.ok("run", "pay.yaml", "--id", "p1")  # the same run: nothing is charged again
        self.refused("run", "pay.yaml", "Pay more.", "--id", "p1", code=1, says="p1")
        self.assertEqual(len(self.ledger()), 3)


if __name__ == "__main__":
    main()
