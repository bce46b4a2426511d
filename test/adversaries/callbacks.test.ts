import { HOSTILE_CALLBACKS } from "../../testkit/adversaries/callbacks.ts";
import { siegeSuite } from "../../testkit/adversaries/suite.ts";

siegeSuite("hostile callbacks", HOSTILE_CALLBACKS);
