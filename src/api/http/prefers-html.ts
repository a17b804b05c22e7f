// What somebody would rather see: a page or data.

/** Whether an `Accept` header would rather have HTML than JSON, as those of browsers do when a page is opened. */
export function prefersHtml(accept: string): boolean {
  const weights = new Map(accept.split(',').map(weighed));
  const html = weights.get('text/html') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return html > json;
}

function weighed(item: string): [type: string, weight: number] {
  const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
}
