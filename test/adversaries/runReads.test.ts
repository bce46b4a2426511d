import { runArena, runReaders } from "../../testkit/adversaries/runReads.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { carriedAnswers } from "../../testkit/programs/answerPrograms.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";
import { everyFourth } from "../../testkit/atLength.ts";

const [traced, answered] = [runProgram(), carriedAnswers()];

// Each lie in one of the two forms; at length in the other.
adversarySuite("workers of runs that read something else", everyFourth(runReaders(traced), 0), {
  make: () => runArena(traced, "trace"),
});
adversarySuite("workers of runs that read something else, and claim answers", everyFourth(runReaders(answered), 1), {
  make: () => runArena(answered, "answer"),
});
