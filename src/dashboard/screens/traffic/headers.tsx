import type { HeaderLineFragment } from '../../generated/operations.ts';
import { headerText } from './bytes.ts';

export interface HeadersProps {
  /** The accessible name of the table. */
  label: string;
  headers: readonly HeaderLineFragment[];
}

/** The header fields of a captured message. */
export function Headers({ label, headers }: HeadersProps) {
  if (headers.length === 0) return <p class="muted">No header fields.</p>;
  return (
    <table class="captured-headers" aria-label={label}>
      <tbody>
        {headers.map(({ name, value, isRedacted }, index) => (
          <tr key={index}>
            <th scope="row">{name}</th>
            <td>{isRedacted && value === '' ? <em class="muted">redacted</em> : headerText(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The value of a header field; empty if there is none. @param name in lower case. */
export function headerValue(headers: readonly HeaderLineFragment[], name: string): string {
  return headers.find((header) => header.name.toLowerCase() === name)?.value ?? '';
}
