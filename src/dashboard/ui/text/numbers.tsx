// Numbers with their units.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const integerFormat = new Intl.NumberFormat('en');

/** A number of bytes with a decimal unit. */
export function Bytes({ value }: { value: number }) {
  return (
    <span class="number" title={`${integerFormat.format(Math.round(value))} bytes`}>
      {formatBytes(value)}
    </span>
  );
}

export interface RateProps {
  /** The value per second. */
  value: number;
  /** The unit; bytes if it is undefined. */
  unit?: string;
}

/** A rate per second. */
export function Rate({ value, unit }: RateProps) {
  const text = unit === undefined ? `${formatBytes(value)}/s` : `${formatNumber(value)} ${unit}/s`;
  return <span class={value < 0.05 ? 'number muted' : 'number'}>{text}</span>;
}

/** A count with thousands separators. */
export function Count({ value }: { value: number }) {
  return <span class="number">{formatCount(value)}</span>;
}

/** A duration in milliseconds, shown as `12.3 ms` or `1.24 s`. */
export function Milliseconds({ value }: { value: number }) {
  return <span class="number">{formatMilliseconds(value)}</span>;
}

export function formatCount(value: number): string {
  return integerFormat.format(value);
}

export function formatMilliseconds(value: number): string {
  return value < 1000 ? `${formatNumber(value)} ms` : `${(value / 1000).toPrecision(3)} s`;
}

export function formatBytes(value: number): string {
  let unit = 0;
  let amount = value;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(amount) : formatNumber(amount)} ${UNITS[unit]}`;
}

function formatNumber(value: number): string {
  if (value < 0.005) return '0';
  if (value >= 100) return integerFormat.format(Math.round(value));
  return value.toFixed(value < 0.1 ? 2 : 1);
}
