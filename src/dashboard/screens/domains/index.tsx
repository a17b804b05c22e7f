import { Route, Router } from 'preact-iso/router';
import './domains.css';
import { CertificateList } from './certificate-list.tsx';
import { NewCertificate } from './certificate-new.tsx';
import { CertificatePage } from './certificate-one.tsx';
import { DomainList } from './list.tsx';
import { NewDomain } from './new.tsx';
import { DomainPage } from './one.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={DomainList} />
      <Route path="/new" component={NewDomain} />
      <Route path="/certificates" component={CertificateList} />
      <Route path="/certificates/new" component={NewCertificate} />
      <Route path="/certificates/:id" component={CertificatePage} />
      <Route path="/:id" component={DomainPage} />
    </Router>
  );
}
