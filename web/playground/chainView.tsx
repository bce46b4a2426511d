import { isAddressEqual, type Address } from "viem";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { developmentAccount, PLAYGROUND } from "../../src/deploy/devnet/accounts.ts";
import type { ClaimRecord, GameRecord } from "../../src/chain/market/history.ts";
import { translateError } from "../../src/chain/translateError.ts";
import { agree, targetOf, type Target } from "../explorer/deployment.ts";
import { GameView } from "../explorer/gamePage.tsx";
import { useSnapshot } from "../explorer/useSnapshot.ts";
import { routeHash, type Route } from "../route.ts";
import { Failure } from "../ui/states.tsx";
import { playOnChain, type News, type Players } from "./chainGame.ts";

type Props = {
  route: Route;
  players: () => Players;
  isBusy: boolean;
  /** Called when a dispute begins, and when it ends. */
  onPlaying: (isPlaying: boolean) => void;
};

/** A dispute that was begun on a chain, and how it goes. */
type Begun = { target: Target; news: readonly News[]; isOver: boolean; error?: unknown };

/** Plays a dispute about a changed number on a development chain, and shows it as the chain has it. */
export function ChainView({ route: { query }, players, isBusy, onPlaying }: Props) {
  const [rpc, setRpc] = useState(query["rpc"] ?? "http://127.0.0.1:8545");
  const [market, setMarket] = useState(query["market"] ?? "");
  const [begun, setBegun] = useState<Begun>();
  const [wrong, setWrong] = useState<unknown>();
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(new Error("the playground was left")), []);
  const isPlaying = begun?.isOver === false;
  const play = async (event: Event): Promise<void> => {
    event.preventDefault();
    setWrong(undefined);
    let target: Target | undefined;
    try {
      target = targetOf({ rpc: rpc.trim(), market: market.trim() });
    } catch (error) {
      setWrong(error);
    }
    if (target === undefined) return;
    agree(target.rpc);
    stop.current = new AbortController();
    setBegun({ target, news: [], isOver: false });
    onPlaying(true);
    const tell = (news: News): void => setBegun((now) => now && { ...now, news: [...now.news, news] });
    try {
      await playOnChain(target, players(), tell, stop.current.signal);
      setBegun((now) => now && { ...now, isOver: true });
    } catch (error) {
      setBegun((now) => now && { ...now, isOver: true, error: translateError(error, "the dispute") });
    }
    onPlaying(false);
  };
  return (
    <section class="stack">
      <div class="stack-tight">
        <h3>The same on a chain</h3>
        <p class="soft">
          On a development chain, both sides send transactions: start one with <code>npx refute-ml devnet</code> and
          give what it prints. The job, the claim and each move are signed here, with keys of that chain that everybody
          knows.
        </p>
      </div>
      <form class="row" onSubmit={(event) => void play(event)}>
        <label class="field grow">
          <span>Node (JSON-RPC URL)</span>
          <input name="chain-rpc" value={rpc} required inputMode="url" onInput={(e) => setRpc(e.currentTarget.value)} />
        </label>
        <label class="field grow">
          <span>Market (address)</span>
          <input
            name="chain-market"
            class="mono"
            value={market}
            required
            spellcheck={false}
            placeholder="0x…"
            onInput={(event) => setMarket(event.currentTarget.value)}
          />
        </label>
        <button class="button main on-chain" type="submit" disabled={isBusy || isPlaying}>
          Change it on the chain
        </button>
      </form>
      {wrong !== undefined && <Failure error={wrong} />}
      {begun !== undefined && <BegunView begun={begun} />}
    </section>
  );
}

function BegunView({ begun: { target, news, isOver, error } }: { begun: Begun }) {
  const live = useSnapshot(target, 0);
  const jobId = news.find((each) => each.jobId !== undefined)?.jobId;
  const claim = jobId && live.snapshot?.history.jobs.get(jobId)?.claims.at(-1);
  const watcher = useMemo(() => developmentAccount(PLAYGROUND.watcher).address, []);
  const game = claim && shownGame(claim, watcher);
  const { rpc, market } = target;
  return (
    <div class="stack">
      <div role="status">
        <ol class="moves">
          {news.map(({ what }, k) => (
            <li key={k}>{what}</li>
          ))}
          {news.length === 0 && !isOver && <li class="soft">The node is asked.</li>}
        </ol>
      </div>
      {error !== undefined && <Failure error={error} />}
      {claim !== undefined && game !== undefined && live.followed !== undefined && live.snapshot !== undefined && (
        <>
          <GameView key={game.id} followed={live.followed} snapshot={live.snapshot} claim={claim} game={game} />
          <p>
            <a href={routeHash(["explorer", "game", game.id], { rpc, market })}>Look at it in the explorer</a>
          </p>
        </>
      )}
    </div>
  );
}

/** The dispute that refuted a claim; until then the playground's own. */
const shownGame = ({ games }: ClaimRecord, watcher: Address): GameRecord | undefined =>
  games.find(({ proved }) => proved) ?? games.find(({ challenger }) => isAddressEqual(challenger, watcher));
