import { useEffect, useRef, useState } from "preact/hooks";
import { shown } from "../format.ts";
import { routeHash } from "../route.ts";
import { Failure } from "../ui/states.tsx";
import { useTitle } from "../ui/useTitle.ts";
import type { PageProps } from "../pageProps.ts";
import { AskForm, type Question } from "./askForm.tsx";
import { baseOf, modelsOf, streamText, type GatewayAt, type OfferedModel } from "./gatewayClient.ts";
import { keepKey, keptKey } from "./keptKey.ts";
import { ReceiptView, type Answered } from "./receiptView.tsx";

type Connected = { at: GatewayAt; models: readonly OfferedModel[] };
/** A text as far as it has come. */
type Coming = { text: string; isEager: boolean; isOver: boolean };

/** Text from a gateway: asked for, streamed, with its receipt. */
export function TextPage({ route }: PageProps) {
  useTitle("Text with a receipt");
  const [connected, setConnected] = useState<Connected>();
  const [coming, setComing] = useState<Coming>();
  const [answered, setAnswered] = useState<Answered>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const given = route.query["gateway"];
  const ask = async ({ path, body }: Question): Promise<void> => {
    if (connected === undefined) return;
    const own = (stop.current = new AbortController());
    setError(undefined);
    setAnswered(undefined);
    let [text, isEager] = ["", false];
    const show = (isOver: boolean): void => setComing({ text, isEager, isOver });
    show(false);
    try {
      let receipt: unknown;
      for await (const news of streamText(connected.at, path, body, own.signal)) {
        if (news.kind === "start") ({ isEager } = news);
        else if (news.kind === "piece") text += news.text;
        else ({ receipt } = news);
        show(false);
      }
      const slots = connected.models.find(({ id }) => id === body.model)?.slots;
      if (receipt !== undefined) setAnswered({ body, text, receipt, slots });
      else setError(new Error("the gateway gave no receipt: nothing binds anybody to this text"));
    } catch (thrown) {
      if (!own.signal.aborted) setError(thrown);
    }
    show(true);
  };
  return (
    <div class="stack">
      <div class="stack-tight">
        <h1>Text with a receipt</h1>
        <p class="soft">
          A gateway buys text from workers in signed blocks. Each answer has a receipt: whoever holds it can check it,
          and have a lie refuted. Workers see what you ask; refuting a lie shows a part of it on the chain.
        </p>
      </div>
      <ConnectForm
        key={given}
        given={given}
        onConnected={(now) => {
          setConnected(now);
          setError(undefined);
        }}
        onFailed={(thrown) => {
          setConnected(undefined);
          setError(thrown);
        }}
      />
      {connected !== undefined && (
        <AskForm
          models={connected.models}
          isBusy={coming?.isOver === false}
          onAsk={(question) => void ask(question)}
          onStop={() => stop.current?.abort()}
        />
      )}
      {coming !== undefined && <ComingView coming={coming} isSigned={answered !== undefined} />}
      {error !== undefined && <Failure error={error} />}
      {answered !== undefined && <ReceiptView answered={answered} />}
    </div>
  );
}

/** Names a gateway and a key, and asks for its models. */
function ConnectForm(props: {
  given: string | undefined;
  onConnected: (connected: Connected) => void;
  onFailed: (error: unknown) => void;
}) {
  const { given, onConnected, onFailed } = props;
  const [url, setUrl] = useState(given ?? "http://127.0.0.1:8800/v1");
  const [key, setKey] = useState(() => keptOf(url));
  const [isKept, setKept] = useState(key !== "");
  const connect = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const at = { url: baseOf(url), key };
      const models = await modelsOf(at);
      keepKey(at.url, isKept ? key : "");
      history.replaceState(null, "", routeHash(["text"], { gateway: at.url }));
      onConnected({ at, models });
    } catch (error) {
      onFailed(error);
    }
  };
  return (
    <form class="card stack" autocomplete="off" onSubmit={(event) => void connect(event)}>
      <div class="columns">
        <label class="field">
          <span>Gateway (URL)</span>
          <input name="gateway" value={url} required inputMode="url" onInput={(e) => setUrl(e.currentTarget.value)} />
        </label>
        <label class="field">
          <span>API key</span>
          <input
            name="gateway-key"
            type="password"
            value={key}
            required
            autocomplete="off"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
      </div>
      <div class="row">
        <button class="button main connect" type="submit">
          Connect
        </button>
        <label class="choice small">
          <input
            name="keep-key"
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.currentTarget.checked)}
          />
          Keep the key in this browser, for this gateway
        </label>
      </div>
    </form>
  );
}

/** The key that is kept for what may be a URL. */
function keptOf(url: string): string {
  try {
    return keptKey(baseOf(url));
  } catch {
    return "";
  }
}

function ComingView({ coming: { text, isEager, isOver }, isSigned }: { coming: Coming; isSigned: boolean }) {
  const isLoose = isEager && !isSigned;
  return (
    <section class="card stack-tight" aria-label="The answer" aria-busy={!isOver}>
      <p class="written">{text.split("\n").map(line).join("\n")}</p>
      <span>
        {isLoose ? <span class="tag loud">not signed</span> : text !== "" && <span class="tag good">signed</span>}{" "}
        {!isOver && <span class="soft small">more is bought</span>}
      </span>
    </section>
  );
}

/** The longest line of a text that is shown, characters. */
const MOST = 2 ** 18;
const line = (text: string): string => shown(text, MOST);
