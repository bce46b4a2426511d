import { answerArena, LYING_ANSWERS } from "../../testkit/adversaries/answers.ts";
import { LYING_CHALLENGERS } from "../../testkit/adversaries/challengers.ts";
import { WRONG_EXECUTIONS } from "../../testkit/adversaries/executions.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { LYING_WORKERS } from "../../testkit/adversaries/workers.ts";
import { AT_LENGTH, everyFourth } from "../../testkit/atLength.ts";

if (!AT_LENGTH) adversarySuite("claims of answers alone", LYING_ANSWERS, { make: answerArena });
// Each is about a trace in a suite of its own.
const parties = everyFourth([...LYING_WORKERS, ...LYING_CHALLENGERS], 1);
const others = [...parties, ...everyFourth(WRONG_EXECUTIONS, 0)];
adversarySuite("those of traces, about answers", others, { make: answerArena });
