import type { Hex } from "viem";
import type { Execute } from "../../runs/execute.ts";
import type { ProgramLibrary } from "../../runs/programLibrary.ts";
import type { FindSigner } from "./signatures.ts";
import type { TicketSession } from "./ticketSession.ts";
import type { WorkerLedger } from "./workerLedger.ts";

/** A worker's price for tickets. */
type TicketPrice = {
  /** The least face, smallest units of the stake asset. */
  face: bigint;
  /** A ticket wins once in at most so many times. */
  oneIn: number;
};

export type ServiceOptions = {
  at: TicketSession;
  ledger: WorkerLedger;
  programs: ProgramLibrary;
  execute: Execute;
  findSigner: FindSigner;
  price: TicketPrice;
  maxBodyBytes: number;
  /** Maximum number of answers in execution or waiting. */
  maxWaiting?: number;
  /** Maximum number of answers that one payer may hold unpaid, those under way included. The deposit covers each. */
  maxUnpaid?: number;
  /** Called when a program's speed on this machine is measured for the first time. */
  onPace?: (programRoot: Hex, pace: Pace) => void;
  /** The time of this machine, unix seconds. */
  clock?: () => number;
};

/** How much of a program a worker may sell. */
export type Pace = {
  /** Seconds that count for an item in the bound on claims that are out. */
  secondsAnItem: number;
  /** Items that may be sold in a minute, in the long run. */
  itemsAMinute: number;
  /** Whether the seconds come from this machine. Otherwise the deployment's rate gives them. */
  isMeasured: boolean;
};
