import unittest

from tally.parse import parse_log
from tally.report import hours_by_client, render

LOG = """\
2026-03-02 09:15-11:45 acme: review of the import
2026-03-02 13:00-16:30 birch: invoices, new layout
2026-03-02 22:30-00:45 acme: deploy in the night
"""


class ReportTest(unittest.TestCase):
    def test_adds_up_each_client(self):
        self.assertEqual(hours_by_client(parse_log(LOG)), {"acme": 4.75, "birch": 3.5})

    def test_lines_up_the_columns(self):
        self.assertEqual(render({"acme": 4.75, "oak": 10}), "acme    4.75 h\noak    10.00 h")


if __name__ == "__main__":
    unittest.main()
