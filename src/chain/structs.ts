import type { AbiParameter, Address, ContractFunctionArgs, ContractFunctionReturnType, Hex } from "viem";
import { disputeGameAbi } from "./abi/disputeGame.ts";
import type { examsAbi } from "./abi/exams.ts";
import { jobMarketAbi } from "./abi/jobMarket.ts";
import type { provisioningAbi } from "./abi/provisioning.ts";

type GameWrite<Name extends "open" | "prove" | "reveal" | "concede"> = ContractFunctionArgs<
  typeof disputeGameAbi,
  "nonpayable",
  Name
>;
type MarketWrite<Name extends "post" | "publishInput" | "deliver" | "finaliseByProof"> = ContractFunctionArgs<
  typeof jobMarketAbi,
  "nonpayable",
  Name
>;
type ProvisioningWrite<Name extends "enrol" | "report" | "makeStatement" | "retireKey"> = ContractFunctionArgs<
  typeof provisioningAbi,
  "nonpayable",
  Name
>;

/** The structs of contracts/types and contracts/interfaces, in viem's encoding. */
export type Claim = GameWrite<"open">[0];
export type Job = Claim["job"];
export type Pick = GameWrite<"open">[2];
export type ProgramFacts = Pick["program"];
export type PackedState = GameWrite<"reveal">[0];
export type StepProof = GameWrite<"prove">[2];
export type ClaimKey = GameWrite<"concede">[1];
export type JobRequest = MarketWrite<"post">[0];
export type Terms = JobRequest["terms"][number];
export type InputPart = MarketWrite<"publishInput">[2];
export type Delivery = MarketWrite<"deliver">[1];
export type ClaimProof = MarketWrite<"finaliseByProof">[2];
export type Endorsement = ProvisioningWrite<"enrol">[0];
export type Report = ProvisioningWrite<"report">[0];
export type Statement = ProvisioningWrite<"makeStatement">[0];
export type SignedPayload = ProvisioningWrite<"retireKey">[2];
/** The structs for tickets are written out, because the large ABI of their contract is not needed for them. */
export type SignedClaim = {
  worker: Address;
  payer: Address;
  programRoot: Hex;
  inputsRoot: Hex;
  items: number;
  firstItem: number;
  number: bigint;
  issued: bigint;
  root: Hex;
  secretHash: Hex;
};
export type ClaimEvidence = { program: ProgramFacts; inputRoots: readonly Hex[]; inputs: readonly Hex[]; nodes: Hex };
export type Ticket = { claim: Hex; face: bigint; odds: bigint; expiry: bigint; nonce: Hex };
export type DeviceInfo = ContractFunctionReturnType<typeof provisioningAbi, "view", "deviceInfo">;
export type ExamReport = ContractFunctionArgs<typeof examsAbi, "nonpayable", "sit">[0];
export type ExamResult = ContractFunctionArgs<typeof examsAbi, "view", "isResult">[0];
export type ExamClass = ContractFunctionReturnType<typeof examsAbi, "view", "classes">[number];
export type DeploymentFacts = ContractFunctionReturnType<typeof jobMarketAbi, "view", "deployment">;
export type Parameters = DeploymentFacts["parameters"];

const CLAIM_PARAMETER = firstInput(disputeGameAbi, "open") as AbiParameter & { components: readonly AbiParameter[] };
/** The ABI encoding of a job, for hashes over jobs. */
export const JOB_PARAMETER = CLAIM_PARAMETER.components[0]!;

/** How the terms of a job are ABI-encoded. */
export const TERMS_PARAMETER = termsParameter();

function termsParameter(): AbiParameter & { components: readonly AbiParameter[] } {
  const event = jobMarketAbi.find((item) => item.type === "event" && item.name === "TermsPosted");
  return (event as { inputs: readonly AbiParameter[] }).inputs[1] as ReturnType<typeof termsParameter>;
}

function firstInput(abi: typeof disputeGameAbi, name: string): AbiParameter {
  const [input] = abi.flatMap((item) => (item.type === "function" && item.name === name ? [...item.inputs] : []));
  return input!;
}

/** Solidity's enums, in their order. */
export const Level = { answer: 0, items: 1, run: 2, trace: 3, interior: 4, tensor: 5 } as const;
export type Level = (typeof Level)[keyof typeof Level];
export const Side = { worker: 0, challenger: 1 } as const;
export type Side = (typeof Side)[keyof typeof Side];
export const Move = { open: 0, reveal: 1, pick: 2, expand: 3 } as const;
export type Move = (typeof Move)[keyof typeof Move];
export const Outcome = { workerWon: 0, challengerWon: 1, settled: 2 } as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];
export const ReportKind = { none: 0, identification: 1, exam: 2 } as const;
export type ReportKind = (typeof ReportKind)[keyof typeof ReportKind];
export const StatementScope = { all: 0, firmware: 1, device: 2 } as const;
export type StatementScope = (typeof StatementScope)[keyof typeof StatementScope];
/** Why a worker may not stake and claim, in the contract's order. */
export const REASONS = [
  "eligible",
  "noDevice",
  "keyRetired",
  "deviceFrozen",
  "firmwareFrozen",
  "manufacturerFrozen",
  "platformRevoked",
  "endorsementExpired",
  "collateralExpired",
  "reportExpired",
] as const;
export type Reason = (typeof REASONS)[number];
export const JobStatus = {
  none: 0,
  awaitingInput: 1,
  open: 2,
  claimed: 3,
  submitted: 4,
  finalised: 5,
  closed: 6,
  complete: 7,
  sealed: 8,
  accepted: 9,
  proven: 10,
} as const;
export type JobStatus = (typeof JobStatus)[keyof typeof JobStatus];
export const ClaimStatus = { none: 0, submitted: 1, finalised: 2, refuted: 3, accepted: 4, proven: 5 } as const;
export type ClaimStatus = (typeof ClaimStatus)[keyof typeof ClaimStatus];
export const PanelOutcome = { none: 0, open: 1, agreed: 2, survived: 3, split: 4, failed: 5 } as const;
export type PanelOutcome = (typeof PanelOutcome)[keyof typeof PanelOutcome];
export const PledgeStatus = { none: 0, active: 1, releasing: 2, stopped: 3 } as const;
export type PledgeStatus = (typeof PledgeStatus)[keyof typeof PledgeStatus];

/** Empty program facts, for calls that need no program. */
const ZERO: Hex = `0x${"0".repeat(64)}`;
export const NO_PROGRAM: ProgramFacts = { header: "0x", stepsRoot: ZERO, checkpointsRoot: ZERO };
export const NO_CHECKPOINT: Pick["checkpoint"] = { first: 0, step: 0, siblings: [] };
export const NO_STEP: Pick["step"] = { dtype: 0, count: 0n, bodyHash: ZERO, siblings: [] };
export const ZERO_HASH = ZERO;

/** An empty pick, to combine with a program and a step, for a proof at a tensor's own node. */
export const NO_PICK: Omit<Pick, "program" | "step"> = {
  index: 0n,
  node: ZERO,
  siblings: [],
  checkpoint: NO_CHECKPOINT,
};
