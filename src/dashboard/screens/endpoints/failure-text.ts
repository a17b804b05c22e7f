/** `40% of the last 1,200 requests failed`. @param share from 0 to 1. */
export function failureText(share: number, requests: number): string {
  const percent = share > 0 && share < 0.01 ? 'less than 1' : Math.round(share * 100);
  return `${percent}% of the last ${requests.toLocaleString('en')} requests failed`;
}
