const SECRET_BYTES = 32;

/** A secret to sign with, as Standard Webhooks writes it. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
