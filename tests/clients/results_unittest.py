"""Results of unittest, a line a test, in the file that RESULTS names; README.md says how lines look.

`Result` is a result class for unittest's TextTestRunner and Django's DiscoverRunner, `facts()` writes
the last lines. What is written of a test is the worst of what unittest says of it: a failing subtest
or tearDown is a failure. A class or module that cannot be set up, or skips itself, has no test that
begins; it has a line of its own.
"""

import os
import unittest


def one_line(text):
    return " ".join(str(text).split())[-500:]


class Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.file = open(os.environ["RESULTS"], "a")
        self.running = False
        self.worst = ""
        # Lines without a test that began.
        self.others = 0

    def say(self, test, result):
        order = ("", "ok", "SKIP", "FAIL")
        if not self.running:
            self.others += 1
            print(test.id(), result, sep="\t", file=self.file, flush=True)
        elif order.index(result.split(":")[0]) > order.index(self.worst.split(":")[0]):
            self.worst = result

    def startTest(self, test):
        super().startTest(test)
        self.running, self.worst = True, ""

    def stopTest(self, test):
        super().stopTest(test)
        print(test.id(), self.worst or "FAIL: no result", sep="\t", file=self.file, flush=True)
        self.running = False

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, "ok")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, f"FAIL: {one_line(err[1])}")

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, f"FAIL: {err[0].__name__}: {one_line(err[1])}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, f"SKIP: {one_line(reason)}")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say(test, "ok")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say(test, "FAIL: unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.say(test, f"FAIL: {subtest.id()}: {one_line(err[1])}")


def facts(result, source_id):
    print("@source_id", source_id, sep="\t", file=result.file)
    print("@end", result.testsRun + result.others, sep="\t", file=result.file, flush=True)
