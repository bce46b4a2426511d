import { formatEther } from "viem";
import { sideGas } from "../src/dispute/sideGas.ts";
import { FORMS } from "../src/chain/market/claimForm.ts";
import { playFigures } from "../src/runs/figures.ts";
import type { ProgramLibrary } from "../src/runs/programLibrary.ts";
import type { Problem } from "../src/base/health.ts";
import type { Funds } from "../src/parties/role/role.ts";
import { shortOfGas } from "../src/parties/role/shortFunds.ts";
import type { Session, Snapshot } from "../src/chain/market/session.ts";

/** Reports whether a defending watcher can pay for its games, and for one more. */
export class WatcherFunds {
  readonly #session: Session;
  readonly #programs: ProgramLibrary;

  /** @param programs That it judges. */
  constructor(session: Session, programs: ProgramLibrary) {
    this.#session = session;
    this.#programs = programs;
  }

  /** Why it cannot pay. @returns undefined if it can. */
  problem({ credit, balance, gasPrice }: Funds, { history, now }: Snapshot): Problem | undefined {
    const { sender, deployment } = this.#session;
    if (credit < deployment.bond) {
      const [has, bond] = [credit, deployment.bond].map((amount) => formatEther(amount));
      return {
        reason: `the credit is ${has}, and the bond of a game ${bond}: no game can be opened; refute account deposit`,
      };
    }
    const { openGames } = playFigures(history, sender.address, now);
    const { arityBits } = deployment.parameters;
    const ofGames = this.#programs.shapes.flatMap((shape) =>
      FORMS.map((form) => sideGas(shape, 1, form, arityBits).challenger),
    );
    const gas = (openGames + 1) * Math.max(0, ...ofGames);
    const purpose = openGames === 0 ? "a game" : `${openGames} games and one more`;
    return shortOfGas({ balance, gasPrice, owner: sender.address }, gas, purpose);
  }
}
