import { runArena, runReaders } from "../../testkit/adversaries/runReads.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { carriedAnswers } from "../../testkit/programs/answerPrograms.ts";
import { runProgram } from "../../testkit/programs/runProgram.ts";

const [traced, answered] = [runProgram(), carriedAnswers()];

adversarySuite("workers of runs that read something else", runReaders(traced), {
  make: () => runArena(traced, "trace"),
});
adversarySuite("workers of runs that read something else, and claim answers", runReaders(answered), {
  make: () => runArena(answered, "answer"),
});
