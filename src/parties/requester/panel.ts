import { formatEther, isAddressEqual, type Address, type Hex } from "viem";
import { Panel, PanelReader, postedPanel } from "../../chain/clients/panel.ts";
import { NotDeployedError, ShortOfFundsError } from "../../chain/errors.ts";
import type { JobRequest } from "../../chain/structs.ts";
import { ofContract } from "../../chain/market/deployment.ts";
import { referenceSuffix } from "../../chain/market/references.ts";
import type { Session } from "../../chain/market/session.ts";
import type { ProgramDescription } from "./description.ts";
import { JobInputError, JobTermsError } from "./errors.ts";
import { checkLocally, jobRequest, type JobTerms, type RareTerms } from "./postJob.ts";
import { PART_BYTES } from "./jobLimits.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** Seats that a panel is posted with, at most (contracts/extras/panel/Panel.sol). */
export const MAX_SEATS = 16;

/** A panel's terms for each seat, and the number of seats. Times are unix seconds. */
export type PanelTerms = Pick<
  JobTerms,
  "items" | "firstItem" | "fee" | "window" | "claimSeconds" | "deadline" | "answer" | "salt" | "references"
> & {
  /** Workers that are asked: 1 to 16. */
  seats: number;
  /** From when on seals are opened: after the deadline, and after `auditUntil`. */
  openFrom: number;
  /** Deadline for sealing a seat that the poster may add; without a deadline no seat may be added. */
  auditUntil?: number;
  /** Requirements for the workers. A panel's seats are open to anybody, in a separate group. */
  rare?: Partial<Omit<RareTerms, "openFrom" | "earlyAccept" | "reservedFor" | "group">>;
};

/** Returns the amount that a panel takes from the poster: a fee per seat, and one extra fee if a seat may be added. */
export const panelFees = ({ fee, seats, auditUntil }: Pick<PanelTerms, "fee" | "seats" | "auditUntil">): bigint =>
  fee * BigInt(seats + (auditUntil === undefined ? 0 : 1));

/**
 * The contract of panels at an address, read only.
 * @throws NotDeployedError if it has no panels on the reader's market
 */
export async function openPanelReader({ deployment, publicClient }: Reader, address: Address): Promise<PanelReader> {
  const panel = new PanelReader(address, { publicClient });
  await requireMarket(panel, deployment.market);
  return panel;
}

/** The same with the account of a session. @throws NotDeployedError */
export async function openPanel(session: Session, address: Address): Promise<Panel> {
  const panel = new Panel(address, session);
  await requireMarket(panel, session.deployment.market);
  return panel;
}

/** Minimum seconds, besides a claim's seconds, for workers to notice an open seat, or for a poster to add a seat. */
const NOTICE_SECONDS = 120;

/** The shortest time in which seats are claimed and sealed (seconds). */
export const minSealSeconds = (claimSeconds: number): number => claimSeconds + NOTICE_SECONDS;

/** Returns the default time for claiming and sealing seats: equal time for noticing and for computing. */
export const usualSealSeconds = (claimSeconds: number): number =>
  Math.max(2 * claimSeconds, minSealSeconds(claimSeconds));

/**
 * Returns times for a panel: each step leaves workers time to notice open seats and to compute. Unix seconds.
 * @param options `sealSeconds`: seconds until the deadline, and the same again for an added seat.
 * @throws JobTermsError if `sealSeconds` is below `minSealSeconds`
 */
export function panelTimes(
  now: bigint,
  claimSeconds: number,
  options: { hasAudit?: boolean; sealSeconds?: number } = {},
): { deadline: bigint; openFrom: number; auditUntil?: number } {
  const { hasAudit = false, sealSeconds = usualSealSeconds(claimSeconds) } = options;
  const min = minSealSeconds(claimSeconds);
  if (sealSeconds < min)
    throw new JobTermsError(
      `sealSeconds ${sealSeconds}: a worker notices the seat and computes for ${claimSeconds} s: at least ${min}`,
    );
  const deadline = now + BigInt(sealSeconds);
  const sealed = Number(deadline);
  if (!hasAudit) return { deadline, openFrom: sealed + 1 };
  // A claim, and time for the poster to add the seat.
  const auditUntil = sealed + sealSeconds;
  return { deadline, auditUntil, openFrom: auditUntil + 1 };
}

/**
 * Posts a panel. The fees come from the account's tokens, not from the account's credit.
 * @param inputs As for `postJob`. One transaction posts all inputs, 65,536 bytes at most, unless the inputs lie
 *   elsewhere (`references`).
 * @param onId Called with the panel's id before the transaction is sent: an interrupted caller can still find the
 *   panel.
 * @returns the panel's id, equal to the first seat's job id, and the jobs of all seats
 * @throws JobInputError, DescriptionError, JobProgramError, JobTermsError, FeeTooLowError, ShortOfFundsError,
 *   ContractRevertError
 */
export async function postPanel(
  session: Session,
  panel: Panel,
  program: ProgramDescription,
  inputs: readonly Uint8Array[],
  terms: PanelTerms,
  onId?: (panelId: Hex) => void,
): Promise<{ panelId: Hex; jobs: readonly Hex[] }> {
  requirePanelTerms(terms);
  const { seats, auditUntil, openFrom, rare, ...job } = terms;
  const { collateral } = session.deployment.parameters;
  const asked: JobTerms = { ...job, maxOutputBytes: 0, rare: { collateral, ...rare, openFrom } };
  checkLocally(session, program, inputs, asked);
  const request = jobRequest(program, inputs, asked);
  if (asked.references === undefined) requireWhole(request, inputs);
  const fees = panelFees(terms);
  const { asset, sender, deployment } = session;
  const held = await asset.balanceOf(sender.address);
  if (held < fees)
    throw new ShortOfFundsError(
      `${sender.address} holds ${formatEther(held)} of the stake asset ${deployment.asset}, and a panel of ${seats} ` +
        `seats takes ${formatEther(fees)}: send it ${formatEther(fees - held)} more, or take credit out of the vault ` +
        "(refute account withdraw)",
    );
  await asset.approve(panel.address, fees);
  const args = [request, seats, auditUntil ?? 0] as const;
  // The id is only an early notice: a bad call fails by name when the transaction is sent.
  const id = onId && (await panel.idOf(...args).catch(() => undefined));
  if (id !== undefined) onId?.(id);
  return postedPanel(await panel.post(...args, asked.references && referenceSuffix(asked.references)));
}

/**
 * Draws in private whether to add a seat to a panel: no worker knows the result.
 * @param share Share of panels with an added seat, 0 to 1.
 */
export function drawAudit(share: number): boolean {
  const [drawn] = crypto.getRandomValues(new Uint32Array(1));
  return drawn! < share * 2 ** 32;
}

async function requireMarket(panel: PanelReader, market: Address): Promise<void> {
  const foreign = `the contract at ${panel.address} has no panels on the market at ${market}`;
  const own = await ofContract(() => panel.market(), foreign);
  if (!isAddressEqual(own, market)) throw new NotDeployedError(foreign);
}

/**
 * Checks a panel's terms.
 * @throws JobTermsError that names the term and the required value
 */
function requirePanelTerms({ seats, deadline, claimSeconds, auditUntil, openFrom }: PanelTerms): void {
  if (!Number.isInteger(seats) || seats < 1 || seats > MAX_SEATS)
    throw new JobTermsError(`seats ${seats}: a panel has 1 to ${MAX_SEATS}`);
  const earliest = Number(deadline) + claimSeconds + 1;
  if (auditUntil !== undefined && auditUntil < earliest)
    throw new JobTermsError(
      `auditUntil ${auditUntil}: a seat that is added is claimed after the deadline and sealed by then: at least ` +
        `${earliest}`,
    );
  const sealed = auditUntil ?? Number(deadline);
  if (openFrom <= sealed)
    throw new JobTermsError(`openFrom ${openFrom}: seals are opened when all of them are there, after ${sealed}`);
}

/** @throws JobInputError if the inputs do not go with the post */
function requireWhole({ inputs: posted }: JobRequest, inputs: readonly Uint8Array[]): void {
  const bytes = inputs.reduce((sum, { length }) => sum + length, 0);
  if (posted.length > 0 || bytes === 0) return;
  throw new JobInputError(
    `the inputs have ${bytes} bytes, and a panel posts them in one transaction, of ${PART_BYTES} bytes at most: have ` +
      "them lie elsewhere (--reference, `references` in the SDK), or ask for fewer items",
  );
}
