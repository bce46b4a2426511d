import type { ContractFunctionArgs, ContractFunctionReturnType } from "viem";
import type { tdxQuoteVerifierAbi } from "./abi/tdxQuoteVerifier.ts";

/** The structs of the quote verifier, in viem's encoding. */
export type TcbInfo = ContractFunctionArgs<typeof tdxQuoteVerifierAbi, "nonpayable", "bringTcbInfo">[0];
export type EnclaveIdentity = ContractFunctionArgs<typeof tdxQuoteVerifierAbi, "nonpayable", "bringEnclaveIdentity">[0];
export type SvnLevel = EnclaveIdentity["levels"][number];
export type Authority = ContractFunctionReturnType<typeof tdxQuoteVerifierAbi, "view", "authorityOf">;
/** The roles of authorities that the contract knows, in its order. */
export const AuthorityRole = { platforms: 1, documents: 2 } as const;
export type CrlState = ContractFunctionReturnType<typeof tdxQuoteVerifierAbi, "view", "crlOf">;
export type DocumentState = ContractFunctionReturnType<typeof tdxQuoteVerifierAbi, "view", "enclaveIdentityOf">[1];
