import { useState } from 'preact/hooks';
import type { BodySizeFragment, HeaderLineFragment } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { Bytes } from '../../ui/text/numbers.tsx';
import { decodeBase64, hexDump } from './bytes.ts';
import { headerValue } from './headers.tsx';

const HEX_BYTES = 256;
/** Longer texts take browsers too long to lay out. */
const MAX_TEXT_LENGTH = 100_000;

export interface BodyProps {
  /** Without `text` for those who may not read it; null for a body that is not text. */
  body: BodySizeFragment & { text?: string | null };
  /** The captured bytes; needed only for bodies that are not text. */
  base64?: string | null | undefined;
  /** The header fields of the message, for its content type. */
  headers: readonly HeaderLineFragment[];
}

/** A captured body: text as text, JSON indented, binary data as a hex dump. */
export function Body({ body, base64, headers }: BodyProps) {
  const { bytes, keptBytes, isWhole, text } = body;
  const type = headerValue(headers, 'content-type');
  const encoding = headerValue(headers, 'content-encoding');
  if (bytes === 0 && keptBytes === 0) return <p class="muted">No body.</p>;
  return (
    <div class="captured-body">
      <p class="muted">
        <Bytes value={bytes} />
        {type && `, ${type}`}
        {encoding && `, ${encoding}`}
        {encoding && text != null && ', shown decoded'}
        {!isWhole && <TruncationNote body={body} />}
      </p>
      {keptBytes > 0 && text === null && <HexBody base64={base64} kept={keptBytes} />}
      {keptBytes > 0 && text != null && <TextBody text={text} isWhole={isWhole} />}
    </div>
  );
}

function TruncationNote({ body: { bytes, keptBytes } }: { body: BodySizeFragment }) {
  if (keptBytes === 0) return <> · not kept: capture was told to keep no bodies</>;
  if (keptBytes < bytes) {
    return (
      <strong>
        {' '}
        · cut: only the first <Bytes value={keptBytes} /> were kept
      </strong>
    );
  }
  return <strong> · it broke off there</strong>;
}

function TextBody({ text, isWhole }: { text: string; isWhole: boolean }) {
  const [isRaw, setRaw] = useState(false);
  const [isAll, setAll] = useState(false);
  const formattedJson = isWhole ? prettyJson(text) : null;
  const whole = isRaw || formattedJson === null ? text : formattedJson;
  const shown = isAll ? whole : whole.slice(0, MAX_TEXT_LENGTH);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre class="captured-bytes" tabIndex={0}>
        {shown}
      </pre>
      <div class="actions">
        <CopyButton text={whole} label="the body" showsText={false} />
        {formattedJson !== null && formattedJson !== text && (
          <Button variant="plain" onClick={() => setRaw(!isRaw)}>
            {isRaw ? 'Lay out' : 'As it came'}
          </Button>
        )}
        {shown.length < whole.length && (
          <Button variant="plain" onClick={() => setAll(true)}>
            Show all of it
          </Button>
        )}
      </div>
    </>
  );
}

function HexBody({ base64, kept }: { base64: string | null | undefined; kept: number }) {
  if (base64 == null) return null;
  const shown = Math.min(kept, HEX_BYTES);
  return (
    <>
      <p>
        This is no text.{' '}
        {shown < kept && (
          <>
            Its first <Bytes value={shown} />:
          </>
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre class="captured-bytes hex" tabIndex={0}>
        {hexDump(decodeBase64(base64), HEX_BYTES)}
      </pre>
    </>
  );
}

/** Indents a JSON object or array; null for anything else. */
function prettyJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
