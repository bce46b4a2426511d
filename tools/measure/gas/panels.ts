import { padHex, numberToHex } from "viem";
import type { ClaimKey } from "../../../src/chain/structs.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { smallProgram } from "../../../testkit/protocol/marketKit.ts";
import { NO_CLAIM, panelKit, panelWorld, type Posted } from "../../../testkit/protocol/panelKit.ts";

/** Gas of what is sent for a panel. */
type PanelGas = { transaction: string; gas: number };

const MAX_SEATS = 16;
const HOUR = 3_600;
/** Inputs are named by their root. */
const AWAY = { rootOnly: true, inputs: [] };

/** What a poster, its workers and whoever ends a panel send. The contract has had credit before. */
export async function panelsGas(): Promise<PanelGas[]> {
  const world = await panelWorld();
  const { panel, client, requester, worker, mallory, stranger, networkHelpers } = world;
  const { at, post, seal, open, finalise } = panelKit(() => world);
  const trace = honestTrace(smallProgram);
  const byPoster = { account: requester.account };
  const rows: PanelGas[] = [];
  /** Notes the latest transaction, or one before it: each is in a block of its own. */
  const note = async (transaction: string, before = 0): Promise<void> => {
    const blockNumber = (await client.getBlockNumber()) - BigInt(before);
    rows.push({ transaction, gas: Number((await client.getBlock({ blockNumber })).gasUsed) });
  };
  const posted = (salt: number, seats: number, isAudited = false): Promise<Posted> =>
    post(seats, isAudited, { ...AWAY, salt: padHex(numberToHex(salt)) });

  await posted(1, 1, true);
  const one = await posted(2, 1, true);
  await note("post, 1 seat, and the fee of one to add");
  await at(one.deadline + 1);
  await panel.write.addSeat([one.first, one.request], byPoster);
  await note("addSeat");

  const three = await posted(3, 3);
  await note("post, 3 seats");
  const workers = [worker, mallory, stranger];
  for (const [k, by] of workers.entries()) await seal(three, three.jobs[k]!, by, trace);
  await note("claimOnTerms, a seat", 1);
  await note("seal");
  await at(three.openFrom);
  const keys: ClaimKey[] = [];
  for (const [k, by] of workers.entries()) keys.push(await open(three, three.jobs[k]!, by, trace));
  await note("openSeal");
  await panel.write.agree([three.first, keys]);
  await note("agree, 3 seats");
  await networkHelpers.time.increase(HOUR);
  for (const [k, key] of keys.entries()) await finalise(three.jobs[k]!, key);
  await note("finalise, a seat");
  await panel.write.resolve([three.first, keys]);
  await note("resolve, 3 final seats");

  const max = await posted(4, MAX_SEATS);
  await note("post, 16 seats");
  await networkHelpers.time.increase(2 * HOUR);
  await panel.write.resolve([max.first, Array<ClaimKey>(MAX_SEATS).fill(NO_CLAIM)]);
  await note("resolve, 16 seats that nobody took");
  await panel.write.withdraw(byPoster);
  await note("withdraw");
  return rows;
}
