import { useState } from "preact/hooks";
import { shown } from "../format.ts";
import type { OfferedModel } from "./gatewayClient.ts";

/** What is asked of a gateway: a path of its interface, and the body. */
export type Question = { path: string; body: { model: string } };

type Props = {
  models: readonly OfferedModel[];
  isBusy: boolean;
  onAsk: (question: Question) => void;
  onStop: () => void;
};

/** Asks for a text. */
export function AskForm({ models, isBusy, onAsk, onStop }: Props) {
  const [model, setModel] = useState(models[0]?.id ?? "");
  const [isChat, setChat] = useState(true);
  const [prompt, setPrompt] = useState("");
  const [tokens, setTokens] = useState(64);
  const [temperature, setTemperature] = useState(0.7);
  const ask = (event: Event): void => {
    event.preventDefault();
    const common = { model, max_tokens: tokens, temperature, stream: true };
    onAsk(
      isChat
        ? { path: "chat/completions", body: { ...common, messages: [{ role: "user", content: prompt }] } as Body }
        : { path: "completions", body: { ...common, prompt } as Body },
    );
  };
  return (
    <form class="card stack" onSubmit={ask}>
      <label class="field">
        <span>{isChat ? "Your message" : "The text to go on with"}</span>
        <textarea
          name="prompt"
          rows={4}
          required
          value={prompt}
          onInput={(event) => setPrompt(event.currentTarget.value)}
        />
      </label>
      <div class="columns">
        <label class="field">
          <span>Model</span>
          <select name="text-model" value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            {models.map(({ id }) => (
              <option key={id} value={id}>
                {shown(id)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>As</span>
          <select
            name="text-kind"
            value={isChat ? "chat" : "text"}
            onChange={(event) => setChat(event.currentTarget.value === "chat")}
          >
            <option value="chat">a message of a chat</option>
            <option value="text">the beginning of a text</option>
          </select>
        </label>
        <label class="field">
          <span>Most tokens</span>
          <input
            name="most-tokens"
            type="number"
            min={1}
            value={tokens}
            onInput={(event) => setTokens(Number(event.currentTarget.value))}
          />
        </label>
        <label class="field">
          <span>Temperature (0: always the most probable token)</span>
          <input
            name="temperature"
            type="number"
            min={0}
            max={2}
            step="any"
            value={temperature}
            onInput={(event) => setTemperature(Number(event.currentTarget.value))}
          />
        </label>
      </div>
      <div class="row">
        <button class="button main ask" type="submit" disabled={isBusy || model === ""}>
          Ask
        </button>
        {isBusy && (
          <button class="button" type="button" onClick={onStop}>
            Stop
          </button>
        )}
      </div>
    </form>
  );
}

type Body = Question["body"];
