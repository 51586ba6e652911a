// The tones of the shoe (hardware/signals.md), for a table where the page is nearer than the shoe.

const TONES = {
  attention: [[440, 250]],
  stop: [[880, 200], [660, 200], [880, 200], [660, 200]],
  floor: [[660, 200], [880, 200]],
  unsupervised: [[330, 150], [0, 100], [330, 150]],
};
const VOLUME = 0.08; // of a square wave, which is loud
const PAUSE_MS = 400; // between two tones that are tried
const KEPT = "dealershoe.muted";

let audio;

// A browser plays nothing before the page was touched once.
for (const touch of ["pointerdown", "keydown"]) {
  addEventListener(touch, () => (audio ??= new AudioContext()).resume(), { once: true });
}

export const muted = () => localStorage.getItem(KEPT) === "yes";

export function mute(on) {
  localStorage.setItem(KEPT, on ? "yes" : "no");
}

function sound(tones) {
  let at = audio.currentTime;
  for (const [hertz, ms] of tones) {
    if (hertz) {
      const tone = new OscillatorNode(audio, { frequency: hertz, type: "square" });
      tone.connect(new GainNode(audio, { gain: VOLUME })).connect(audio.destination);
      tone.start(at);
      tone.stop(at + ms / 1000);
    }
    at += ms / 1000;
  }
}

/** Play what the shoe plays at the beginning of a signal; nothing for a signal without a tone, or when muted. */
export function play(signal) {
  if (TONES[signal] && !muted() && audio?.state === "running") sound(TONES[signal]);
}

/** All of them, one after the other, muted or not. `heard(signal)` is called with each, and with null at the end. */
export async function tryAll(heard) {
  audio ??= new AudioContext();
  for (const [signal, tones] of Object.entries(TONES)) {
    heard(signal);
    sound(tones);
    const ms = tones.reduce((sum, tone) => sum + tone[1], 0);
    await new Promise((next) => setTimeout(next, ms + PAUSE_MS));
  }
  heard(null);
}
