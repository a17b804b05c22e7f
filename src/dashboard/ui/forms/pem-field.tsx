import { useRef, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import type { FieldProps } from './field.tsx';
import { TextArea } from './text-field.tsx';

/** The largest file that is read. The API takes far less; a mistaken video should not freeze the page. */
const MAX_FILE_BYTES = 256 * 1024;

/** A field for PEM text: pasted, read from a file, or dropped as one. */
export function PemField({ rows = 4, ...field }: FieldProps<string> & { rows?: number }) {
  const file = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState('');

  async function read(chosen: File | undefined) {
    if (!chosen) return;
    if (chosen.size > MAX_FILE_BYTES) {
      setProblem(`${chosen.name} is too large for PEM: at most 256 KiB are read.`);
      return;
    }
    const text = await chosen.text();
    const isPem = text.includes('-----BEGIN ');
    setProblem(isPem ? '' : `${chosen.name} isn’t PEM. “openssl x509 -inform der -in FILE” converts a certificate.`);
    if (isPem) field.onChange(text);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same by keyboard
    <div
      class={isOver ? 'pem over' : 'pem'}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void read(event.dataTransfer.files[0]);
      }}
    >
      <TextArea {...field} rows={rows} isCode placeholder="-----BEGIN …" />
      <input
        ref={file}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
        accept=".pem,.crt,.cer,.key,.txt"
        onChange={async (event) => {
          const input = event.currentTarget;
          await read(input.files?.[0]);
          input.value = '';
        }}
      />
      <div class="actions">
        <Button label={`${field.label}: from a file`} onClick={() => file.current?.click()}>
          From a file …
        </Button>
        <span class="help">or drop one here</span>
      </div>
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
