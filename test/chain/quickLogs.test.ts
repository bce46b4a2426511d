import { expect } from "chai";
import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  numberToHex,
  parseAbi,
  toHex,
  zeroAddress,
  type AbiEvent,
  type AbiParameter,
  type Hex,
} from "viem";
import { quickLogs } from "../../src/chain/quickLogs.ts";
import { protocolAbi } from "../../src/chain/market/history.ts";
import { Prng } from "../../testkit/random/prng.ts";

type RawLog = { topics: Hex[]; data: Hex };

const events = protocolAbi.filter((item) => item.type === "event");
const ofEachKind = parseAbi([
  "event Words(uint256 indexed a, int8 indexed b, bool indexed c, bytes4 d)",
  "event Long(string indexed a, bytes indexed b, uint256[] indexed c, string d, bytes e)",
  "struct Pair { uint64 left; bytes right; }",
  "event Nested(Pair indexed a, Pair[] b, address[2] c)",
]) as readonly AbiEvent[];

/** A random value of a type. */
function valueOf(parameter: AbiParameter, prng: Prng): unknown {
  const { type } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array !== null) {
    const length = array[2] === "" ? prng.below(3) : Number(array[2]);
    return Array.from({ length }, () => valueOf({ ...parameter, type: array[1]! }, prng));
  }
  if (type === "tuple") {
    const { components } = parameter as { components: readonly AbiParameter[] };
    return Object.fromEntries(components.map((part) => [part.name, valueOf(part, prng)]));
  }
  const bytes = (length: number): Hex => toHex(Uint8Array.from({ length }, () => prng.below(256)));
  if (type === "bool") return prng.below(2) === 1;
  if (type === "string") return "x".repeat(prng.below(40));
  if (type === "address") return bytes(20);
  if (type.startsWith("bytes")) return bytes(type === "bytes" ? prng.below(70) : Number(type.slice(5)));
  const bits = Number(/\d+/.exec(type)![0]);
  const isSmall = bits <= 48;
  const value = BigInt(prng.below(100));
  return isSmall ? Number(value) : value;
}

/** A log of an event as a node gives it. */
function logOf(event: AbiEvent, prng: Prng): RawLog {
  const [indexed, others] = [true, false].map((is) => event.inputs.filter((input) => (input.indexed ?? false) === is));
  const isHashed = ({ type }: AbiParameter): boolean => /^(string|bytes|tuple)$|\]$/.test(type);
  const topics = indexed!.map((input) =>
    isHashed(input)
      ? numberToHex(prng.below(1_000), { size: 32 })
      : encodeAbiParameters([input], [valueOf(input, prng)]),
  );
  const [selector] = encodeEventTopics({ abi: [event] }) as [Hex];
  const data = encodeAbiParameters(
    others!,
    others!.map((input) => valueOf(input, prng)),
  );
  return { topics: [selector, ...topics], data };
}

/** The same log with a mistake. */
const MISTAKES: ((log: RawLog) => RawLog)[] = [
  ({ topics, data }) => ({ topics: topics.slice(0, 1), data }),
  ({ topics, data }) => ({ topics, data: `0x${data.slice(2, data.length / 2)}` }),
  ({ topics }) => ({ topics, data: "0x" }),
  ({ topics, data }) => ({ topics: [numberToHex(7, { size: 32 }), ...topics.slice(1)], data }),
  ({ topics, data }) => ({ topics, data: `${data}${"00".repeat(32)}` }),
  ({ data }) => ({ topics: [], data }),
];

/** What a client asks of a node that has some logs, and what it answers, with viem's own `getLogs` and with ours. */
async function bothAnswers(logs: readonly RawLog[], request: object): Promise<[unknown[], unknown[]]> {
  const answer = logs.map((log, k) => {
    const place = { blockNumber: "0x5", logIndex: numberToHex(k), transactionIndex: "0x1", removed: false };
    const hash = numberToHex(k, { size: 32 });
    return { ...log, ...place, address: zeroAddress, blockHash: hash, transactionHash: hash, blockTimestamp: "0x9" };
  });
  const asked = async (isQuick: boolean): Promise<unknown[]> => {
    const calls: unknown[] = [];
    const provider = { request: (call: unknown) => (calls.push(call), Promise.resolve(answer)) };
    const client = createPublicClient({ transport: custom(provider) });
    const { getLogs } = isQuick ? client.extend(quickLogs) : client;
    const found = await getLogs(request as never);
    return [...calls, found];
  };
  return [await asked(false), await asked(true)];
}

describe("logs of events", function () {
  const range = { address: [zeroAddress], fromBlock: 3n, toBlock: 90n, strict: true };

  it("ofTheProtocol_andOfEachType_areThoseOfViem_alsoMalformedOnes", async () => {
    for (const list of [events, ofEachKind]) {
      const prng = new Prng(1);
      for (let round = 0; round < 20; round++) {
        const whole = (list as readonly AbiEvent[]).map((event) => logOf(event, prng));
        const broken = whole.flatMap((log) => MISTAKES.map((change) => change(log)));
        const [expected, found] = await bothAnswers([...whole, ...broken], { ...range, events: list });
        expect(found).to.deep.equal(expected);
        expect(found[1]).to.have.length.at.least(whole.length);
      }
    }
  });

  it("otherCalls_areAnsweredAsViemDoes", async () => {
    const prng = new Prng(2);
    const logs = ofEachKind.map((event) => logOf(event, prng));
    for (const request of [
      { fromBlock: 1n, toBlock: 2n },
      { ...range, toBlock: "latest", events: ofEachKind },
      { ...range, strict: false, events: ofEachKind },
      { strict: true, blockHash: numberToHex(1, { size: 32 }), events: ofEachKind },
      { ...range, event: ofEachKind[0], args: { a: 5n } },
    ]) {
      const [expected, found] = await bothAnswers(logs, request);
      expect(found).to.deep.equal(expected);
    }
  });
});
