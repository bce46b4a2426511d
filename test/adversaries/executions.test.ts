import { WRONG_EXECUTIONS } from "../../testkit/adversaries/executions.ts";
import { stepKindLiars } from "../../testkit/adversaries/stepKinds.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("wrong executions", [...WRONG_EXECUTIONS, ...stepKindLiars()]);
