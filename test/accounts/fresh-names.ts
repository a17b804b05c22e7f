// Names that no other call gives.

let made = 0;

/** A word of eight letters and digits. */
export const fresh = () => `w${String(++made).padStart(7, '0')}`;

export const newZone = () => `${fresh()}.example.com`;
