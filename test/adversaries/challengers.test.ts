import { AT_LENGTH } from "../../testkit/atLength.ts";
import type { Adversary } from "../../testkit/adversaries/adversary.ts";
import { LYING_CHALLENGERS } from "../../testkit/adversaries/challengers.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";

// So many at once are played at length, where the others are not played again.
const isCrowd = ({ name }: Adversary): boolean => name.startsWith("fifty ");
adversarySuite(
  "lying challengers",
  LYING_CHALLENGERS.filter((one) => isCrowd(one) === AT_LENGTH),
);
