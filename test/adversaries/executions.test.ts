import { WRONG_EXECUTIONS } from "../../testkit/adversaries/executions.ts";
import { stepKindLiars } from "../../testkit/adversaries/stepKinds.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { everyFourth } from "../../testkit/atLength.ts";

// The others as answers, in a suite of their own; at length the other way round. Each kind of step is played once.
adversarySuite("wrong executions", [...everyFourth(WRONG_EXECUTIONS, 1), ...everyFourth(stepKindLiars(), 0)]);
