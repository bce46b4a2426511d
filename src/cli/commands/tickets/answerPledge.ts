import { PledgedClaimsReader } from "../../../chain/clients/pledgedClaims.ts";
import { PledgeStatus } from "../../../chain/structs.ts";
import type { Session } from "../../../chain/market/session.ts";
import { timeText } from "../../amount.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";

const WORDS = {
  [PledgeStatus.none]: "none",
  [PledgeStatus.active]: "active",
  [PledgeStatus.releasing]: "asked back",
  [PledgeStatus.stopped]: "taken: the worker is stopped",
} as const;

/** Answers with the account's pledge after a command. */
export async function answerPledge(output: Output, session: Session): Promise<void> {
  const { deployment, sender } = session;
  const reader = new PledgedClaimsReader(deployment.market, session);
  const { status, time, claims } = await reader.pledgeOf(sender.address);
  const amount = (await moneyOf(session))(deployment.parameters.collateral);
  const since = status === PledgeStatus.none ? "" : ` since ${timeText(time)}, of ${amount}, ${claims} open claims`;
  output.answer(
    { account: sender.address, pledge: WORDS[status], since: timeText(time), claims },
    `pledge ${WORDS[status]}${since}`,
  );
}
