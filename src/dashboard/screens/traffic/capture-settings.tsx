import { useMutation } from '../../data/hooks/use-mutation.ts';
import { type CaptureStateFragment, StartTrafficCapture } from '../../generated/operations.ts';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { ListField, nonEmptyLines } from '../../ui/forms/list-field.tsx';
import { NumberField } from '../../ui/forms/number-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';

export interface CaptureSettingsProps {
  endpointId: string;
  capture: CaptureStateFragment;
  onClose: () => void;
}

const MAX_MINUTES = 24 * 60;
const DEFAULT_MINUTES = 60;
const DEFAULT_BODY_BYTES = 64 * 1024;

const SIZES = [
  { value: '0', title: 'Nothing: only how long they are' },
  { value: '1024', title: 'The first 1 KiB' },
  { value: '16384', title: 'The first 16 KiB' },
  { value: '65536', title: 'The first 64 KiB' },
  { value: '262144', title: 'The first 256 KiB' },
  { value: '1048576', title: 'The first 1 MiB' },
];

/** The gateway redacts these in any case. */
const ALWAYS_REDACTED = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'];

export function CaptureSettings({ endpointId, capture, onClose }: CaptureSettingsProps) {
  const { isOn, kept } = capture;
  const start = useMutation(StartTrafficCapture);
  const fields = useFormFields({
    bodyBytes: String(isOn ? capture.bodyBytes : DEFAULT_BODY_BYTES),
    minutes: DEFAULT_MINUTES as number | null,
    redactHeaders: capture.redactedHeaders.filter((name) => !ALWAYS_REDACTED.includes(name)) as readonly string[],
  });
  const { values, bind } = fields;
  async function submit() {
    const { bodyBytes, minutes, redactHeaders } = values;
    const input = { bodyBytes: Number(bodyBytes), minutes, redactHeaders: nonEmptyLines(redactHeaders) };
    if (!(await start.mutate({ endpointId, input }))) return;
    fields.saved();
    onClose();
  }
  return (
    <Dialog title={isOn ? 'Settings of this capture' : 'Switch capture on'} onClose={onClose}>
      <Form
        submitLabel={isOn ? 'Change the capture' : 'Switch capture on'}
        error={start.error}
        isBusy={start.isBusy}
        fields={fields}
        onSubmit={() => void submit()}
        onCancel={onClose}
      >
        {!isOn && kept > 0 && <Note variant="warn">The {kept} requests that are still kept are thrown away.</Note>}
        <SelectField
          {...bind('bodyBytes')}
          label="Of each body, keep"
          options={sizesWith(values.bodyBytes)}
          help="In the memory of the gateway only, so that a restart of it loses them: up to 8 MiB per address, the oldest go first."
        />
        <NumberField
          {...bind('minutes')}
          label="Switches itself off after"
          unit="minutes"
          min={1}
          max={MAX_MINUTES}
          help={`${isOn ? 'Counted from now. ' : ''}Until then it goes on when the agent or the gateway is restarted.`}
        />
        <ListField
          {...bind('redactHeaders')}
          label="Headers to redact besides"
          itemName="header"
          placeholder="x-session-token"
          validateLine={(name) =>
            /^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) ? null : 'This can’t be the name of a header.'
          }
          help={`Their values are never shown, as those of ${ALWAYS_REDACTED.join(', ')} never are. A replay sends them all the same.`}
        />
      </Form>
    </Dialog>
  );
}

/** Adds the current size, which may have been set through the API, to the options. */
function sizesWith(bytes: string) {
  if (SIZES.some(({ value }) => value === bytes)) return SIZES;
  return [...SIZES, { value: bytes, title: titleOf(Number(bytes)) }];
}

/** The size within a sentence. */
export function sizeOf(bytes: number): string {
  const { title } = SIZES.find(({ value }) => value === String(bytes)) ?? { title: titleOf(bytes) };
  return title.replace('The', 'the');
}

function titleOf(bytes: number): string {
  return `The first ${bytes.toLocaleString('en')} bytes`;
}
