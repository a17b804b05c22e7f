import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { AddressPage } from './addresses/detail.tsx';
import { AddressList } from './addresses/list.tsx';
import { NewAddress } from './addresses/new.tsx';
import './domains.css';
import { CertificatePage } from './certificates/detail.tsx';
import { NewCertificate } from './certificates/form.tsx';
import { CertificateList } from './certificates/list.tsx';
import { DomainPage } from './detail.tsx';
import { IngressPage } from './ingresses/detail.tsx';
import { IngressList } from './ingresses/list.tsx';
import { NewIngress } from './ingresses/new.tsx';
import { DomainList } from './list.tsx';
import { NewDomain } from './new.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={DomainList} />
      <Route path="/new" component={NewDomain} />
      <Route path="/addresses" component={AddressList} />
      <Route path="/addresses/new" component={NewAddress} />
      <Route path="/addresses/:id" component={AddressPage} />
      <Route path="/certificates" component={CertificateList} />
      <Route path="/certificates/new" component={NewCertificate} />
      <Route path="/certificates/:id" component={CertificatePage} />
      <Route path="/ingresses" component={IngressList} />
      <Route path="/ingresses/new" component={NewIngress} />
      <Route path="/ingresses/:id" component={IngressPage} />
      <Route path="/:id" component={DomainPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
