/**
 * Which secrets are in which texts.
 * @param {Record<string, string>} secrets by their names
 * @param {Record<string, string[]>} places texts, by where they were found
 * @returns {string[]} `apiKey in the log`; never the secret itself
 */
export function leaksOf(secrets, places) {
  const leaks = [];
  for (const [name, secret] of Object.entries(secrets)) {
    if (!secret) throw new Error(`there is no ${name} to look for`);
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    for (const [place, texts] of Object.entries(places)) {
      const found = texts.find((text) => forms.some((form) => text.includes(form)));
      if (found !== undefined) leaks.push(`${name} in ${place}`);
    }
  }
  return leaks;
}
