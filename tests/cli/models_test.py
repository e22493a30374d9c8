#!/usr/bin/env python3
"""Models as charters, configuration and environment name them; nobody is asked for anything."""

from support import Stage, json_lines, main


class Models(Stage):
    def setUp(self):
        super().setUp()
        self.variables = {}

    def environment(self):
        return {**super().environment(), **self.variables}

    def rows(self):
        return {row["id"]: row for row in json_lines(self.ok("models", "--json").stdout)}

    def test_a_key_makes_models_available(self):
        self.assertEqual(self.rows()["anthropic/claude-opus-5"]["missing"],
                         "set ANTHROPIC_API_KEY")
        self.assertNotIn("anthropic", self.ok("models", "--configured").stdout)
        self.variables["ANTHROPIC_API_KEY"] = "sk-very-secret"
        row = self.rows()["anthropic/claude-opus-5"]
        self.assertTrue(row["configured"])
        self.assertIn("smart", row["names"])
        self.assertIn("anthropic", self.ok("models", "--configured").stdout)
        said = self.ok("doctor").stdout
        self.assertIn("key from environment variable ANTHROPIC_API_KEY", said)
        self.assertNotIn("very-secret", said)

    def test_names_of_the_configuration_are_listed_and_its_faults_have_lines(self):
        self.write("config.yaml", "tiers: { mine: [openai/gpt-5, groq/some-model] }\n")
        self.variables["PAWL_CONFIG"] = "config.yaml"
        self.assertEqual(self.rows()["openai/gpt-5"]["names"], ["mine"])
        self.assertEqual(self.rows()["groq/some-model"]["names"], ["mine"])
        self.write("config.yaml", "providers:\n  openai: { key: sk-very-secret }\n")
        said = self.refused("models", code=2, says="config.yaml:2:").stderr
        self.assertNotIn("very-secret", said)

    def test_without_model_and_key_the_script_inside_answers_and_says_so(self):
        self.write("bare.yaml", "name: bare\ninstructions: Go.\n")
        result = self.ok("run", "bare.yaml", "--id", "r")
        self.assertIn("no provider is configured", result.stderr)
        self.assertEqual(self.summary("r")["model"], "scripted")

    def test_a_model_that_nobody_has_is_refused_with_the_nearest(self):
        self.write("c.yaml", "name: c\nmodel: anthropic/claud-opus-5\ninstructions: Go.\n")
        said = self.pawl("validate", "c.yaml")
        self.assertEqual(said.returncode, 2)
        self.assertIn("c.yaml:2:8: ", said.stdout)
        self.assertIn("claud-opus-5", said.stdout)
        self.assertFalse(self.data.exists())

    def test_a_chain_by_names_of_the_charter_runs_its_first_target(self):
        self.charter("one", "  - text: Done.\n")
        self.write("chain.yaml", "name: chain\nmodels:\n  first: scripted/one.script.yaml\n"
                   "  both: [first, scripted/one.script.yaml]\nmodel: both\ninstructions: Go.\n")
        self.ok("run", "chain.yaml", "--id", "r")
        self.assertEqual(self.summary("r")["model"], "scripted/one.script.yaml")


if __name__ == "__main__":
    main()
