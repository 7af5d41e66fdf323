import unittest

from tally.parse import LogError, parse_line, parse_log


class ParseTest(unittest.TestCase):
    def test_reads_client_and_note(self):
        entry = parse_line("2026-03-02 09:15-11:45 acme: review of the import")
        self.assertEqual((entry.client, entry.note), ("acme", "review of the import"))

    def test_leaves_out_blank_lines_and_comments(self):
        entries = parse_log("# March\n\n2026-03-02 13:00-16:30 birch: invoices\n")
        self.assertEqual(len(entries), 1)

    def test_names_the_line_that_is_no_entry(self):
        with self.assertRaisesRegex(LogError, "line 2"):
            parse_log("# March\nlunch\n")


if __name__ == "__main__":
    unittest.main()
