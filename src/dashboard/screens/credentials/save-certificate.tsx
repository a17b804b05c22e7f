import { Button } from '../../ui/button.tsx';

interface SaveCertificateProps {
  pem: string;
  /** The file's name. */
  name: string;
}

/** Gives a certificate to the browser as a file. It is no secret. */
export function SaveCertificate({ pem, name }: SaveCertificateProps) {
  function save() {
    const href = URL.createObjectURL(new Blob([pem], { type: 'application/x-pem-file' }));
    const link = Object.assign(document.createElement('a'), { href, download: name });
    link.click();
    URL.revokeObjectURL(href);
  }
  return (
    <div class="actions">
      <Button onClick={save}>Save {name}</Button>
    </div>
  );
}
