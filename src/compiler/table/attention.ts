import { FLOATS } from "../../model/decision/operatorClass.ts";
import * as attentionRules from "../gradients/rules/attention.ts";
import * as linearAttentionRules from "../gradients/rules/linearAttention.ts";
import * as recurrentRules from "../gradients/rules/recurrent.ts";
import { attention } from "../operators/attention.ts";
import { causalConvWithState, linearAttention } from "../operators/linearAttention.ts";
import { gru, lstm, rnn } from "../operators/recurrent/recurrent.ts";
import { rotaryEmbedding } from "../operators/rotary.ts";
import { ONNX, type Row } from "./row.ts";

/** Layers over the tokens of a text. */
const TOKENS = { ...ONNX, use: "memory", decision: FLOATS, halves: "float32", bounded: "refused" } as const;

/** Layers that take one token after the other. */
const RECURRENT = {
  ...ONNX,
  since: 7,
  use: "memory",
  decision: FLOATS,
  halves: "float32",
  bounded: "refused",
} as const;

/** Attention and recurrent layers. */
export const ATTENTION_ROWS: readonly Row[] = [
  {
    ...TOKENS,
    operator: "Attention",
    since: 23,
    lower: attention,
    gradient: { composition: attentionRules.attention },
    computes:
      "r = sqrt(scale), scale = 1 / sqrt(size); Softmax(RN(dot(q * r, k * r)) + mask), dot with v; past keys " +
      "and values, causal, groups of heads, key counts. The cap comes before the mask. A query whose keys are all " +
      "masked gives 0. The fourth output: the products, capped, with the mask, or the softmax",
  },
  {
    ...TOKENS,
    operator: "CausalConvWithState",
    since: 27,
    lower: causalConvWithState,
    gradient: { composition: linearAttentionRules.causalConvWithState },
    computes: "Conv of each channel over the past state and the input, then the bias, x * sigmoid(x)",
  },
  {
    ...TOKENS,
    operator: "LinearAttention",
    since: 27,
    lower: linearAttention,
    gradient: { composition: linearAttentionRules.linearAttention },
    computes:
      "token by token, RN(state * exp(decay)); write = v or RN(beta * RN(v - dot)); RN(state + RN(k * write)); " +
      "RN(scale * dot(q, state)). At most 4096 tokens",
  },
  {
    ...TOKENS,
    operator: "RotaryEmbedding",
    since: 23,
    lower: rotaryEmbedding,
    gradient: { composition: attentionRules.rotaryEmbedding },
    computes: "(cos * a - sin * b, sin * a + cos * b), each product and sum rounded",
  },

  {
    ...RECURRENT,
    operator: "GRU",
    lower: gru,
    gradient: { composition: recurrentRules.gru },
    computes:
      "z, r: act(RN(dot(h, R)) + (RN(dot(x, W)) + b)); g likewise of r * h, or r * (RN(dot(h, R)) + b) with " +
      "`linear_before_reset`; h = ((1 - z) * g) + (z * h). Unrolled; `direction`, `clip`, `layout`, lengths, " +
      "initial states; activations Sigmoid, Tanh, Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, " +
      "HardSigmoid, Softsign",
  },
  {
    ...RECURRENT,
    operator: "LSTM",
    lower: lstm,
    gradient: { composition: recurrentRules.lstm },
    computes:
      "i, o, f, g: act(RN(dot(h, R)) + (RN(dot(x, W)) + b) (+ P * c)); c = (f * c) + (i * g); h = o * act(c). " +
      "Otherwise as GRU; `input_forget`",
  },
  {
    ...RECURRENT,
    operator: "RNN",
    lower: rnn,
    gradient: { composition: recurrentRules.rnn },
    computes: "h = act(RN(dot(h, R)) + (RN(dot(x, W)) + b)). Otherwise as GRU",
  },
];
