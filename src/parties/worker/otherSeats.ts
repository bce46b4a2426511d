import { isAddressEqual, type Address, type Hex } from "viem";
import { Watching } from "../../../watcher/watcher.ts";
import { ZERO_HASH } from "../../chain/structs.ts";
import type { History } from "../../chain/market/history.ts";
import type { Forget } from "../../chain/market/forget.ts";
import type { Duty, Role, RoundSnapshot, Start } from "../role/role.ts";
import type { WorkerEvent } from "./events.ts";
import type { WorkerOptions } from "./options.ts";

/**
 * Returns the claims on other seats of a worker's panels with other roots than the worker's own claims. One of the two
 * roots is wrong, and the worker has executed the question.
 */
function otherClaims({ claims, jobs }: Pick<History, "claims" | "jobs">, me: Address): Set<Hex> {
  const others = new Set<Hex>();
  for (const { claim, refuted, jobId } of claims.values()) {
    if (refuted || !isAddressEqual(claim.worker, me)) continue;
    const { alike, terms, job } = jobs.get(jobId)!;
    if (terms === undefined || terms.group === ZERO_HASH) continue;
    const seats = alike.filter((one) => one.terms?.group === terms.group && one.job.requester === job.requester);
    for (const other of seats.flatMap((seat) => seat.claims))
      if (other.claim.root !== claim.root && !isAddressEqual(other.claim.worker, me)) others.add(other.id);
  }
  return others;
}

/** A worker's duty towards its panels: it watches the seats that differ from its own. */
export class OtherSeats implements Duty {
  readonly forget: Forget;
  readonly #claims = new Set<Hex>();
  readonly #watching: Watching;
  readonly #me: Address;

  constructor(options: WorkerOptions, mode: "watch" | "defend", role: Role<WorkerEvent>) {
    const { session, programs, execute, log, signal } = options;
    this.#me = session.sender.address;
    const claims = this.#claims;
    this.#watching = new Watching({ session, programs, execute, log, signal, mode, claims }, role);
    this.forget = this.#watching.forget;
  }

  /** Starts the audits and the moves that a snapshot asks for. */
  readonly round = (snapshot: RoundSnapshot, start: Start): void => {
    this.#claims.clear();
    for (const id of otherClaims(snapshot.history, this.#me)) this.#claims.add(id);
    this.#watching.round(snapshot, start);
  };
}
