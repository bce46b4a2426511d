import { LYING_CHALLENGERS } from "../../testkit/adversaries/challengers.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

adversarySuite("lying challengers", LYING_CHALLENGERS);
