import { WRONG_EXECUTIONS } from "../../testkit/adversaries/executions.ts";
import { stepKindLiars } from "../../testkit/adversaries/stepKinds.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("wrong executions", [...WRONG_EXECUTIONS, ...stepKindLiars()]);
