import type { Address, Hex, TransactionReceipt } from "viem";
import { tdxQuoteVerifierAbi } from "../abi/tdxQuoteVerifier.ts";
import { LogReader } from "../logReader.ts";
import { findFirstBlock } from "../market/firstBlock.ts";
import { AuthorityRole } from "../tdxStructs.ts";
import type { Authority, CrlState, DocumentState, EnclaveIdentity, TcbInfo } from "../tdxStructs.ts";
import type { Access, ReadAccess } from "./access.ts";

/** The first number of each role's authorities. */
const FIRST_NUMBERS = [
  [AuthorityRole.platforms, 1],
  [AuthorityRole.documents, 128],
] as const;

/** An authority with its number. */
export type NumberedAuthority = Authority & { number: number };

/** The kind of platform that a document covers. */
type PlatformKind = { fmspc: Hex; pceId: Hex };

/** A signature. */
type Signed = { r: Hex; s: Hex };

/** The verifier of Intel TDX quotes: the reading part of the contract's client. */
export class TdxQuoteVerifierReader {
  readonly address: Address;
  protected readonly publicClient: ReadAccess["publicClient"];
  protected readonly contract: { address: Address; abi: typeof tdxQuoteVerifierAbi };

  constructor(address: Address, { publicClient }: ReadAccess) {
    this.address = address;
    this.publicClient = publicClient;
    this.contract = { address, abi: tdxQuoteVerifierAbi };
  }

  /** All authorities, in the order of their numbers: first those that certify platforms. */
  async authorities(): Promise<NumberedAuthority[]> {
    const read = this.publicClient.readContract.bind(this.publicClient);
    const numbers = await Promise.all(
      FIRST_NUMBERS.map(async ([role, first]) => {
        const length = await read({ ...this.contract, functionName: "authorityCount", args: [role] });
        return Array.from({ length }, (_, k) => first + k);
      }),
    );
    return Promise.all(
      numbers.flat().map(async (number) => ({
        number,
        ...(await read({ ...this.contract, functionName: "authorityOf", args: [number] })),
      })),
    );
  }

  /** The newest revocation list of an issuer; 0 is the root. */
  crlOf(issuer: number): Promise<CrlState> {
    return this.publicClient.readContract({ ...this.contract, functionName: "crlOf", args: [issuer] });
  }

  /** Reads the state of a TCB info, by default the state of the highest number. */
  tcbInfoOf(authority: number, { fmspc, pceId }: PlatformKind, number = 0): Promise<readonly [number, DocumentState]> {
    const args = [authority, fmspc, pceId, number] as const;
    return this.publicClient.readContract({ ...this.contract, functionName: "tcbInfoOf", args });
  }

  /** Reads the state of the quoting enclave's identity, by default the state of the highest number. */
  enclaveIdentityOf(authority: number, number = 0): Promise<readonly [number, DocumentState]> {
    const args = [authority, number] as const;
    return this.publicClient.readContract({ ...this.contract, functionName: "enclaveIdentityOf", args });
  }

  /** Since when a certificate is revoked, unix time; 0 if it is not. */
  revokedSince(certificate: bigint): Promise<bigint> {
    return this.publicClient.readContract({ ...this.contract, functionName: "revokedSince", args: [certificate] });
  }

  /** Whether a platform was introduced by these facts last. */
  isIntroduced(facts: Hex): Promise<boolean> {
    return this.publicClient.readContract({ ...this.contract, functionName: "isIntroduced", args: [facts] });
  }

  /**
   * All events of the verifier.
   * @param supposed The supposed block of its deployment; it may be older.
   * @param older A contract that is probably older. Where a node shows neither contract, it may keep no state so old:
   *   the events are read from the first block on.
   */
  async events(supposed: bigint, older: Address) {
    const first = await findFirstBlock(this.publicClient, this.address, supposed, undefined, older);
    const from = first.isProven ? first.fromBlock : 0n;
    const to = await this.publicClient.getBlockNumber({ cacheTime: 0 });
    return new LogReader(this.publicClient, [this.address], tdxQuoteVerifierAbi).read([{ from, to }]);
  }
}

/** The verifier, for anyone who brings documents signed by Intel. */
export class TdxQuoteVerifier extends TdxQuoteVerifierReader {
  readonly #sender: Access["sender"];

  constructor(address: Address, access: Access) {
    super(address, access);
    this.#sender = access.sender;
  }

  /** Brings a certificate of the root. @throws ContractRevertError */
  bringAuthority(der: Hex): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "bringAuthority", args: [der] });
  }

  /** Brings a revocation list, and has serial numbers looked up in it. @throws ContractRevertError */
  bringCrl(issuer: number, der: Hex, serials: readonly bigint[]): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "bringCrl", args: [issuer, der, serials] });
  }

  /** Brings TCB info. @throws ContractRevertError */
  bringTcbInfo(info: TcbInfo, authority: number, { r, s }: Signed): Promise<TransactionReceipt> {
    return this.#sender.send({ ...this.contract, functionName: "bringTcbInfo", args: [info, authority, r, s] });
  }

  /** Brings the quoting enclave's identity. @throws ContractRevertError */
  bringEnclaveIdentity(identity: EnclaveIdentity, authority: number, { r, s }: Signed): Promise<TransactionReceipt> {
    const args = [identity, authority, r, s] as const;
    return this.#sender.send({ ...this.contract, functionName: "bringEnclaveIdentity", args });
  }
}
