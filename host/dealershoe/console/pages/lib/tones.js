// The tones of the shoe (hardware/signals.md), for a table where the page is nearer than the shoe.

const TONES = {
  attention: [[440, 250]],
  stop: [[880, 200], [660, 200], [880, 200], [660, 200]],
  floor: [[660, 200], [880, 200]],
  unsupervised: [[330, 150], [0, 100], [330, 150]],
};
const KEPT = "dealershoe.muted";

let audio;

export const muted = () => localStorage.getItem(KEPT) === "yes";

export function mute(on) {
  localStorage.setItem(KEPT, on ? "yes" : "no");
}

/** Play what the shoe plays at the beginning of a signal; nothing for a signal without a tone, or when muted. */
export function play(signal, even_if_muted = false) {
  const tones = TONES[signal];
  if (!tones || (muted() && !even_if_muted)) return 0;
  audio ??= new AudioContext();
  let at = audio.currentTime;
  for (const [hertz, ms] of tones) {
    if (hertz) {
      const tone = new OscillatorNode(audio, { frequency: hertz, type: "square" });
      const volume = new GainNode(audio, { gain: 0.08 });
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + ms / 1000);
    }
    at += ms / 1000;
  }
  return (at - audio.currentTime) * 1000;
}

/** All of them, one after the other. */
export async function tryAll() {
  for (const signal of Object.keys(TONES)) {
    await new Promise((next) => setTimeout(next, play(signal, true) + 400));
  }
}
