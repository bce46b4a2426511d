/** The requester's exports, for any platform: the module imports nothing that a browser lacks. */
export { RefuteError } from "../base/errors.ts";
export type { Kzg } from "../chain/blobSender.ts";
export type { Endpoint } from "../chain/connect.ts";
export * from "../chain/errors.ts";
export { ethersWallet, type EthersSigner } from "../chain/ethersWallet.ts";
export type { Job } from "../chain/structs.ts";
export { viemWallet, type Wallet, type WalletTransaction } from "../chain/wallet.ts";
export type { Deployment } from "../chain/market/deployment.ts";
export { deposit } from "../chain/market/deposit.ts";
export { openReader, openSession, type Session, type SessionOptions } from "../chain/market/session.ts";
export * from "../chain/market/addressFile.ts";
export { decodeOutputs, topScores, type DecodedOutput, type Score } from "../parties/requester/decodeOutputs.ts";
export { parseDescription } from "../parties/requester/description.ts";
export type { OutputDescription, ProgramDescription, TensorDescription } from "../parties/requester/description.ts";
export { encodeInputs } from "../parties/requester/encodeInputs.ts";
export * from "../parties/requester/errors.ts";
export { claimedOutputs, itemOutputs, type ItemOutputs } from "../parties/requester/itemOutputs.ts";
export { followPanel, type FollowPanelOptions, type SeatOdds } from "../parties/requester/followPanel.ts";
export { drawAudit, openPanel, openPanelReader, panelFees, panelTimes, postPanel } from "../parties/requester/panel.ts";
export type { PanelTerms } from "../parties/requester/panel.ts";
export type { PanelMove } from "../parties/requester/panelMoves.ts";
export { panelState, type PanelState, type SeatState } from "../parties/requester/panelState.ts";
export { streamedItems, type StreamedItem } from "../parties/requester/streamedItems.ts";
export { estimateFee, type FeeEstimate } from "../parties/requester/estimateFee.ts";
export { blobsOf } from "../chain/market/blobs.ts";
export { InputReferenceError, referenceSuffix } from "../chain/market/references.ts";
export { blobCosts, postBlobs, type BlobCosts, type PostBlobsOptions } from "../parties/requester/postBlobs.ts";
export {
  checkJob,
  DEFAULT_TERMS,
  jobRequest,
  minWindow,
  packInputs,
  postJob,
  publishInputs,
} from "../parties/requester/postJob.ts";
export type { JobTerms } from "../parties/requester/postJob.ts";
export { redeliver } from "../parties/requester/redeliver.ts";
export { jobProgress, jobState, waitForResult } from "../parties/requester/result.ts";
export type {
  Callbacks,
  ClaimProgress,
  JobProgress,
  JobResult,
  JobState,
  WaitOptions,
} from "../parties/requester/result.ts";
export type { TensorData } from "../parties/requester/typedArrays.ts";
export type { Reader } from "../chain/market/reader.ts";
