import { WRONG_EXECUTIONS } from "../../test-support/adversaries/executions.ts";
import { stepKindLiars } from "../../test-support/adversaries/stepKinds.ts";
import { siegeSuite } from "../../test-support/adversaries/suite.ts";

siegeSuite("wrong executions", [...WRONG_EXECUTIONS, ...stepKindLiars()]);
