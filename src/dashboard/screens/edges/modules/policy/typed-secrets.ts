// Secrets that somebody types into a policy, which no draft may keep.

/** Members of actions whose values are secrets, or look like it. The mask is none. */
const SECRET_MEMBER =
  /["']?[\w-]*(?:secret|password|token|credential|private_?key|api_?key|authorization|cookie)[\w-]*["']?\s*:\s*(?!\s*["']?<secret>)\S/i;

/** Whether a policy may have a secret in it that was typed. Better one time too often. */
export function mayHoldSecret(text: string): boolean {
  return SECRET_MEMBER.test(text) || text.includes('PRIVATE KEY') || /\bcredentials["']?\s*:/i.test(text);
}
