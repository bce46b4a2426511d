const NUMBERS = [
  ...(["jobs", "games", "transactions", "requests", "unpaidRequests"] as const),
  ...(["wrongFinal", "unwatchedFinal"] as const),
] as const;
const AMOUNTS = ["honestLoss", "shortPaid", "leagueLoss", "sunk"] as const;
const TABLES = ["verdicts", "endings", "proofs", "refusals", "panels", "tickets"] as const;

/** The counts of a soak. */
export class Totals {
  jobs = 0;
  games = 0;
  transactions = 0;
  /** By the worker's kind and how the claim ended. */
  readonly verdicts = new Map<string, number>();
  /** By the challenger's kind and how its game ended. */
  readonly endings = new Map<string, number>();
  /** Elements proven wrong, by the sources that their steps read: the job's inputs and the item before. */
  readonly proofs = new Map<string, number>();
  /** Moves that the contract rightly refused, by the error's name. */
  readonly refusals = new Map<string, number>();
  /** Panels and seats, by members and result. */
  readonly panels = new Map<string, number>();
  /** Requests for answers off chain, and what honest workers were never paid for. */
  requests = 0;
  unpaidRequests = 0;
  /** Answers off chain and their tickets, by result. */
  readonly tickets = new Map<string, number>();
  readonly wrong: string[] = [];
  /** Wrong results that became final although an honest watcher looked. */
  wrongFinal = 0;
  /** Wrong results that became final where nobody honest looked. */
  unwatchedFinal = 0;
  largestGas = { gas: 0, move: "" };
  largestDelayBlocks = 0;
  /** Wei that honest parties lost, gas included. */
  honestLoss = 0n;
  /** Gas costs, wei, left unpaid to honest parties at the ends of games: a few hundred gas per game. */
  shortPaid = 0n;
  /** Wei of the ledger that the others lost. */
  leagueLoss = 0n;
  /** Wei in the ledger that went to the sink. */
  sunk = 0n;

  count(table: Map<string, number>, key: string): void {
    table.set(key, (table.get(key) ?? 0) + 1);
  }

  gas(gas: number, move: string): void {
    if (gas > this.largestGas.gas) this.largestGas = { gas, move };
  }

  /** Adds what another soak counted. */
  add(other: Totals): void {
    for (const key of NUMBERS) this[key] += other[key];
    for (const key of AMOUNTS) this[key] += other[key];
    for (const key of TABLES) for (const [row, n] of other[key]) this[key].set(row, (this[key].get(row) ?? 0) + n);
    this.wrong.push(...other.wrong);
    this.gas(other.largestGas.gas, other.largestGas.move);
    this.largestDelayBlocks = Math.max(this.largestDelayBlocks, other.largestDelayBlocks);
  }

  /** As JSON, for {@link Totals.parse}. */
  toJson(): string {
    return JSON.stringify(this, (_, value: unknown) =>
      value instanceof Map ? [...value] : typeof value === "bigint" ? String(value) : value,
    );
  }

  /** Parses totals from JSON. */
  static parse(json: string): Totals {
    const totals = new Totals();
    const read = JSON.parse(json) as Omit<Record<string, string>, "wrong"> & Record<"wrong", string[]>;
    const others = { wrong: read.wrong, largestGas: read.largestGas, largestDelayBlocks: read.largestDelayBlocks };
    Object.assign(totals, others, Object.fromEntries(NUMBERS.map((key) => [key, read[key]])));
    for (const key of AMOUNTS) totals[key] = BigInt(read[key]!);
    for (const key of TABLES)
      for (const [row, n] of read[key] as unknown as [string, number][]) totals[key].set(row, n);
    return totals;
  }

  get passed(): boolean {
    return this.wrong.length === 0 && this.wrongFinal === 0 && this.honestLoss === 0n;
  }

  /** The closing lines. */
  report(): string {
    const table = (title: string, counts: Map<string, number>): string[] => [
      title,
      ...[...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, n]) => `  ${key.padEnd(44)} ${n}`),
    ];
    const ether = (wei: bigint): string => (Number(wei) / 1e18).toFixed(6);
    return [
      `${this.jobs} jobs, ${this.games} games, ${this.transactions} transactions`,
      ...table("claims, by worker and verdict:", this.verdicts),
      ...table("games, by challenger and ending:", this.endings),
      ...table("proofs, by what their steps read:", this.proofs),
      ...(this.panels.size === 0 ? [] : table("panels and their seats:", this.panels)),
      ...(this.tickets.size === 0 ? [] : table("answers off chain and their tickets:", this.tickets)),
      ...table("moves refused by the contract, as they should be:", this.refusals),
      `largest gas of a transaction: ${this.largestGas.gas} (${this.largestGas.move})`,
      `largest delay of a result: ${this.largestDelayBlocks} blocks of 12 s`,
      `money lost by dishonest parties: ${ether(this.leagueLoss)}, of it to the sink: ${ether(this.sunk)}`,
      `gas of honest parties that ends of games did not pay: ${ether(this.shortPaid)}`,
      `money lost by honest parties, other gas included: ${ether(this.honestLoss)}`,
      ...(this.requests === 0 ? [] : [`${this.requests} requests off chain, ${this.unpaidRequests} never paid`]),
      `wrong results that became final although somebody honest looked: ${this.wrongFinal}`,
      `wrong results that became final where nobody honest looked: ${this.unwatchedFinal}`,
      `faults: ${this.wrong.length}`,
      ...this.wrong.slice(0, 20).map((line) => `  ${line}`),
    ].join("\n");
  }
}
