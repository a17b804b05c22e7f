/**
 * Finds secrets in texts, as they are, percent-encoded or in Base64.
 * @param {Record<string, string>} secrets by their names
 * @param {Record<string, string[]>} sources texts by where they come from
 * @returns {string[]} `apiKey in the log`; never the secret itself
 */
export function findSecretLeaks(secrets, sources) {
  const leaks = [];
  for (const [name, secret] of Object.entries(secrets)) {
    if (!secret) throw new Error(`there is no ${name} to look for`);
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    for (const [source, texts] of Object.entries(sources)) {
      const found = texts.find((text) => forms.some((form) => text.includes(form)));
      if (found !== undefined) leaks.push(`${name} in ${source}`);
    }
  }
  return leaks;
}
