import { useEffect, useRef } from "preact/hooks";
import { boxOf, centred, INNER, READY, SIDE, type Stroke } from "./digit.ts";

/** Pixels of the canvas' side, and of the pen. */
const [SIZE, PEN] = [280, 22] as const;

type Props = { onPixels: (pixels: number[]) => void };

/** A place to draw a digit on; ready ones are a click away. */
export function DigitCanvas({ onPixels }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = useRef<readonly [number, number] | undefined>(undefined);
  const context = (): CanvasRenderingContext2D => canvas.current!.getContext("2d", { willReadFrequently: true })!;
  const clear = (): void => {
    const drawing = context();
    drawing.fillStyle = "#000";
    drawing.fillRect(0, 0, SIZE, SIZE);
    Object.assign(drawing, { strokeStyle: "#fff", lineWidth: PEN, lineCap: "round", lineJoin: "round" });
  };
  const line = (...points: readonly (readonly [number, number])[]): void => {
    const drawing = context();
    drawing.beginPath();
    points.forEach(([x, y], k) => (k === 0 ? drawing.moveTo(x, y) : drawing.lineTo(x, y)));
    drawing.stroke();
  };
  const tell = (): void => onPixels(pixelsOf(canvas.current!));
  const draw = (strokes: readonly Stroke[]): void => {
    clear();
    for (const stroke of strokes) line(...stroke.map(([x, y]) => [x * SIZE, y * SIZE] as const));
    tell();
  };
  useEffect(() => draw(READY["3"]!), []);
  const placeOf = ({ clientX, clientY }: PointerEvent): readonly [number, number] => {
    const { left, top, width, height } = canvas.current!.getBoundingClientRect();
    return [((clientX - left) / width) * SIZE, ((clientY - top) / height) * SIZE];
  };
  return (
    <div class="row drawing">
      <canvas
        ref={canvas}
        width={SIZE}
        height={SIZE}
        role="img"
        aria-label="Your drawing of a digit"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          last.current = placeOf(event);
          line(last.current, last.current);
        }}
        onPointerMove={(event) => {
          if (last.current === undefined) return;
          const place = placeOf(event);
          line(last.current, place);
          last.current = place;
        }}
        onPointerUp={() => {
          last.current = undefined;
          tell();
        }}
      />
      <div class="stack-tight">
        <p class="soft small">Clear it and draw a digit with a mouse or a finger, or take a ready one.</p>
        <div class="row">
          <button class="button" type="button" onClick={() => draw([])}>
            Clear
          </button>
          {Object.entries(READY).map(([digit, strokes]) => (
            <button key={digit} class="button" type="button" onClick={() => draw(strokes)}>
              A {digit}
            </button>
          ))}
        </div>
      </div>
    </div>
  );
}

/** A drawing as the model takes it: 28 x 28, the digit 20 high or wide, its mass in the middle. */
function pixelsOf(canvas: HTMLCanvasElement): number[] {
  const read = (from: HTMLCanvasElement): number[] => {
    const { data } = from.getContext("2d")!.getImageData(0, 0, from.width, from.height);
    return Array.from({ length: data.length / 4 }, (_, k) => data[4 * k]! / 255);
  };
  const box = boxOf(read(canvas), SIZE);
  const small = document.createElement("canvas");
  [small.width, small.height] = [SIDE, SIDE];
  const drawing = small.getContext("2d")!;
  drawing.fillRect(0, 0, SIDE, SIDE);
  drawing.imageSmoothingQuality = "high";
  const at = (SIDE - INNER) / 2;
  if (box !== undefined) drawing.drawImage(canvas, box.x, box.y, box.size, box.size, at, at, INNER, INNER);
  return centred(read(small));
}
