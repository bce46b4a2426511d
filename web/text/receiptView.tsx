import { useEffect, useState } from "preact/hooks";
import { sha256, stringToBytes, type Address } from "viem";
import { config } from "zod/v4";
import type { Receipt } from "../../src/parties/gateway/receiptForm.ts";
import { clock, counted, grouped, shown, time } from "../format.ts";
import { Busy } from "../ui/busy.tsx";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import { Failure } from "../ui/states.tsx";
import { signersOf } from "./signers.ts";
import { useCheck, type Check } from "./useCheck.ts";

/** An answer with its receipt. */
export type Answered = {
  /** The body that was sent. */
  body: { model: string };
  text: string;
  /** As the gateway sent it. */
  receipt: unknown;
  /** Of the model, if the gateway tells them. */
  slots: number | undefined;
};

type Read = { receipt: Receipt; signers: readonly (Address | undefined)[] };

/** The receipt of an answer: who signed what, and a check of it in this page. */
export function ReceiptView({ answered }: { answered: Answered }) {
  const [read, setRead] = useState<Read | { error: unknown }>();
  useEffect(() => {
    let isOver = false;
    readSigned(answered).then(
      (own) => !isOver && setRead(own),
      (error: unknown) => !isOver && setRead({ error }),
    );
    return () => void (isOver = true);
  }, [answered]);
  if (read === undefined) return null;
  return (
    <section class="card stack receipt">
      <h2>Its receipt</h2>
      {"error" in read ? <Failure error={read.error} /> : <ReadView read={read} answered={answered} />}
    </section>
  );
}

/** Reads a receipt, and compares what needs no file. @throws ReceiptError, Error */
async function readSigned({ receipt: json, text }: Answered): Promise<Read> {
  // The page's policy forbids code that is made of text, which the schemas would make where they can.
  config({ jitless: true });
  const { readReceipt } = await import("../../src/parties/gateway/receiptForm.ts");
  const receipt = readReceipt(json);
  if (sha256(stringToBytes(text)).slice(2) !== receipt.text.content)
    throw new Error("this receipt is about another text than the one that came: do not rely on it");
  return { receipt, signers: await signersOf(receipt) };
}

function ReadView({ read: { receipt, signers }, answered }: { read: Read; answered: Answered }) {
  const check = useCheck();
  const [now, setNow] = useState(() => Date.now() / 1_000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1_000), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { usage, blocks, refutableUntil } = receipt;
  const unsigned = signers.filter((signer) => signer === undefined).length;
  const left = refutableUntil - now;
  return (
    <>
      <div class="row">
        <span class={unsigned === 0 ? "tag good" : "tag lost"} role="status">
          {unsigned === 0
            ? `${counted(blocks.length, "block")}, all signed`
            : `not signed by its worker: ${counted(unsigned, "block")}`}
        </span>
        <span class="tag">{left > 0 ? `can be refuted for ${clock(left)}` : "can be verified, refuted no more"}</span>
        <Download name={receipt.id} content={{ request: answered.body, receipt: answered.receipt }} />
      </div>
      <Facts
        of={[
          ["Model", shown(receipt.model)],
          ["Program", <Hex value={receipt.programRoot} />],
          ...[...new Set(signers)].map((signer) => ["Worker", signer && <Hex value={signer} />] as const),
          ["Contract of the claims", <Hex value={receipt.tickets} />],
          ["Chain", String(receipt.chainId)],
          ["Tokens of the prompt", grouped(usage.prompt)],
          ["Tokens of the text", `${grouped(usage.completion)} of ${grouped(usage.bought)} bought`],
          ["Seed", receipt.text.seed],
          ["Can be refuted until", `${time(refutableUntil)} UTC`],
        ]}
      />
      <p class="soft small">
        Contract, chain and time stand in the receipt as the gateway wrote it: compare them with the deployment that you
        trust.
      </p>
      <CheckForm read={{ receipt, signers }} answered={answered} check={check} />
      <CheckResult check={check} receipt={receipt} />
    </>
  );
}

/** Asks for the files that a receipt names, and has it checked. */
function CheckForm({ read, answered, check }: { read: Read; answered: Answered; check: Check }) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [slots, setSlots] = useState(answered.slots ?? 512);
  const [error, setError] = useState<unknown>();
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      const bytes = await Promise.all(
        files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })),
      );
      check.start({ ...read, body: answered.body, files: bytes, slots });
    } catch (cause) {
      setError(new Error("a file cannot be read any more: choose the files again", { cause }));
    }
  };
  return (
    <form class="stack-tight" onSubmit={(event) => void start(event)}>
      <h3>Check it here</h3>
      <p class="soft">
        The page makes the prompt&apos;s tokens, and executes each block again. It needs the model, its tokenizer.json,
        and tokenizer_config.json or the file of the chat template. They are sent nowhere.
      </p>
      <div class="row end">
        <label class="field grow">
          <span>The model&apos;s files</span>
          <input
            name="receipt-files"
            type="file"
            multiple
            required
            onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])}
          />
        </label>
        <label class="field">
          <span>Slots of the decoder</span>
          <input
            name="slots"
            type="number"
            min={1}
            max={65_536}
            required
            value={slots}
            onInput={(event) => setSlots(Number(event.currentTarget.value))}
          />
        </label>
        <button class="button main check" type="submit" disabled={check.state.busy !== undefined}>
          Check it
        </button>
      </div>
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}

const BY = { gpu: "on this machine's GPU", kernels: "in blocks, by kernels", definition: "by the definition" } as const;

function CheckResult({ check: { state, cancel }, receipt }: { check: Check; receipt: Receipt }) {
  const { busy, checked, error } = state;
  if (busy !== undefined) return <Busy busy={busy} onCancel={cancel} />;
  if (error !== undefined) return <Failure error={error} />;
  if (checked === undefined) return null;
  const { lie, by, milliseconds } = checked;
  return (
    <div class={`state${lie === undefined ? "" : " failure"}`} role="status">
      <h3>{lie === undefined ? "The receipt holds" : `Block ${lie + 1} is a lie`}</h3>
      <p>
        {lie === undefined
          ? `Prompt, signatures and all ${counted(receipt.blocks.length, "block")} are right.`
          : "Its worker signed other tokens than the model gives: keep the file, and run refute text receipt refute."}{" "}
        They were executed again {BY[by]}, in {(milliseconds / 1_000).toFixed(1)} s.
      </p>
    </div>
  );
}

/** Saves what the command line takes: the request, and the receipt of its answer. */
function Download({ name, content }: { name: string; content: object }) {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(content, undefined, 2)], { type: "application/json" }));
    Object.assign(document.createElement("a"), { href: url, download: `${name.replace(/[^\w-]/g, "_")}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1_000);
  };
  return (
    <button class="button" type="button" onClick={save}>
      Save it
    </button>
  );
}
