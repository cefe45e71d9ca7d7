// Numbers as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(size: number): string {
  let unit = 0;
  let scaled = Math.abs(size);
  while (scaled >= 1024 && unit < UNITS.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return `${size < 0 ? "−" : ""}${scaled.toFixed(digits)} ${UNITS[unit]}`;
}

export function signedBytes(size: number): string {
  return size > 0 ? `+${bytes(size)}` : size < 0 ? bytes(size) : "0 B";
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

export function share(part: number, whole: number): string {
  return whole ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

/** Microseconds. */
export function time(duration: number): string {
  if (duration >= 1e6) return `${(duration / 1e6).toFixed(2)} s`;
  if (duration >= 1e3) return `${(duration / 1e3).toFixed(2)} ms`;
  return `${duration.toFixed(duration < 10 ? 2 : duration < 100 ? 1 : 0)} µs`;
}

export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
